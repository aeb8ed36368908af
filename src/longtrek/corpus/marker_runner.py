"""Convert one PDF to Markdown with Marker: the script that runs in the converter's environment.

    python marker_runner.py IN.pdf OUT.md --layout geometry --pages 200 --memory-gib 6

It writes the Markdown to OUT.md and one line of JSON to standard output: `{"pages", "version", "layout"}`, or
`{"error"}` with exit code 3. It imports nothing of the kit but `geometry` and `accents`, which stand beside it.
"""

import argparse
import contextlib
import json
import os
import resource
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

REFUSED = 3


class Refusal(Exception):
    """A reason why a PDF is not converted, in words for the list of failures."""


def count_pages(path: Path, limit: int) -> int:
    """Open a PDF and count its pages.

    Raises:
        Refusal: it is not a PDF, is damaged or encrypted, is empty, or has more than `limit` pages.
    """
    import pypdfium2  # type: ignore[import-not-found]

    with path.open("rb") as stream:
        if b"%PDF-" not in stream.read(1024):
            raise Refusal("not a PDF: the file does not begin with %PDF-")
    try:
        document = pypdfium2.PdfDocument(path)
        pages = len(document)
        document.close()
    except pypdfium2.PdfiumError as error:
        encrypted = "password" in str(error).lower()
        raise Refusal("encrypted: a password is needed" if encrypted else f"damaged PDF: {error}") from None
    if not pages:
        raise Refusal("damaged PDF: it has no page")
    if pages > limit:
        raise Refusal(f"too many pages: {pages}, the limit is {limit}")
    return pages


def geometry_converter() -> Any:
    """Marker's converter with the layout step by fonts and geometry in place of the learned one; OCR off."""
    from marker.builders.layout import LayoutBuilder  # type: ignore[import-not-found]
    from marker.converters.pdf import PdfConverter  # type: ignore[import-not-found]
    from surya.layout.schema import LayoutBox, LayoutResult  # type: ignore[import-not-found]

    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import accents  # type: ignore[import-not-found]
    import geometry  # type: ignore[import-not-found]

    class GeometryLayoutBuilder(LayoutBuilder):  # type: ignore[misc]
        def surya_layout(self, pages: Any, provider: Any) -> Any:
            raw = [provider.raw_pdftext_pages[page.page_id] for page in pages]
            for page, text in zip(pages, raw, strict=True):
                accents.mend(text, provider.page_lines.get(page.page_id, []))
            boxes = geometry.layout([geometry.read_page(text) for text in raw])
            return [
                LayoutResult(image_bbox=list(page.polygon.bbox), bboxes=[layout_box(i, b) for i, b in enumerate(found)])
                for page, found in zip(pages, boxes, strict=True)
            ]

    def layout_box(position: int, box: Any) -> Any:
        corners = [[box.x0, box.y0], [box.x1, box.y0], [box.x1, box.y1], [box.x0, box.y1]]
        return LayoutBox(label=box.label, raw_label=box.label, position=position, polygon=corners)

    settings = {"mode": "fast", "disable_ocr": True, "extract_images": False, "pdftext_workers": 1}
    models = dict.fromkeys(("layout_model", "fast_layout_model", "recognition_model", "ocr_error_model"))
    models["inference_manager"] = None
    converter = PdfConverter(models, config={**settings, "disable_image_extraction": True, "disable_tqdm": True})
    converter.layout_builder_class = GeometryLayoutBuilder
    return converter


def marker_converter() -> Any:
    """Marker as its authors ship it; on a GPU it takes its vision model and full-page OCR, else its fast detector."""
    from marker.converters.pdf import PdfConverter
    from marker.models import create_model_dict  # type: ignore[import-not-found]

    settings = {"extract_images": False, "pdftext_workers": 1, "disable_image_extraction": True, "disable_tqdm": True}
    return PdfConverter(create_model_dict(), config=settings)


def convert(path: Path, layout: str) -> str:
    """Convert a PDF to Markdown with the layout step named."""
    # Marker fetches a font that only its HTML and debug output draw with, unless this names a file that exists.
    os.environ.setdefault("FONT_PATH", str(Path(__file__).resolve()))
    converter = geometry_converter() if layout == "geometry" else marker_converter()
    markdown: str = converter(str(path)).markdown
    if len("".join(markdown.split())) < 200:
        raise Refusal("no text layer: less than 200 characters were found (OCR is off with the geometry layout)")
    return markdown


def main() -> int:
    """Convert the PDF that the arguments name, within the memory limit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("pdf", type=Path)
    parser.add_argument("markdown", type=Path)
    parser.add_argument("--layout", choices=("geometry", "marker"), default="geometry")
    parser.add_argument("--pages", type=int, default=200, help="refuse a PDF with more pages")
    parser.add_argument("--memory-gib", type=float, default=0, help="address space limit; 0 for none")
    arguments = parser.parse_args()
    if arguments.memory_gib:
        limit = int(arguments.memory_gib * 2**30)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        # Libraries print to standard output; only the last line there is this script's.
        with contextlib.redirect_stdout(sys.stderr):
            pages = count_pages(arguments.pdf, arguments.pages)
            markdown = convert(arguments.pdf, arguments.layout)
    except Refusal as error:
        print(json.dumps({"error": str(error)}))
        return REFUSED
    except MemoryError:
        print(json.dumps({"error": f"memory over the limit of {arguments.memory_gib:g} GiB"}))
        return REFUSED
    arguments.markdown.write_text(markdown, encoding="utf-8")
    print(json.dumps({"pages": pages, "version": version("marker-pdf"), "layout": arguments.layout}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
