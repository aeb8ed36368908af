"""Turns a GGUF file into bfloat16 safetensors and its tokenizer; run by the engine's Python, which has torch.

`python convert_gguf.py FOLDER FILE OUT`. Byte-identical when repeated with the same versions.
"""

import importlib
import sys


def convert(folder: str, file: str, out: str) -> None:
    """Dequantise `folder/file` to bfloat16 and save model, tokenizer and chat template in `out`."""
    torch = importlib.import_module("torch")
    transformers = importlib.import_module("transformers")
    model = transformers.AutoModelForCausalLM.from_pretrained(
        folder,
        gguf_file=file,
        dtype=torch.bfloat16,
        quantization_config=transformers.GgufConfig(dequantize=True),
    )
    model.save_pretrained(out)
    transformers.AutoTokenizer.from_pretrained(folder, gguf_file=file).save_pretrained(out)


if __name__ == "__main__":
    convert(*sys.argv[1:4])
