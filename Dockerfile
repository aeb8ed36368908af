# The kit's three environments as images, each built from its lock: kit, engine (vLLM for CUDA), converter (Marker).
# `make images` builds them and names them in config/images.yaml. By hand:
#
#     docker build --target engine --tag longtrek-engine .
#
# BASE_IMAGE       another base: Debian 12, Ubuntu 24.04, or one made of them
# ENGINE_LOCK      another lock of the engine: requirements-engine.lock is vLLM for CPUs
# CONVERTER_LOCK   another lock of the converter: requirements-converter.lock needs no GPU
# wheels           a build context: a folder with wheels that the package index lacks, such as PyTorch's CPU build
# pip              a secret: pip's configuration, where packages come from a mirror
ARG BASE_IMAGE

# Stands for the build context of this name where none is given.
FROM scratch AS wheels
COPY requirements.lock /


FROM ${BASE_IMAGE:-debian:bookworm-20260824-slim@sha256:88200866dfff7ea7f5cbcb6ec7c8a701889efe6fe859fe64d6990e4b07ea4171} AS kit
# The base says the release; its mirrors keep only the last build of a package, so that a pinned one would soon be gone.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
COPY requirements.lock /opt/longtrek/
RUN --mount=type=secret,id=pip,target=/etc/pip.conf --mount=type=bind,from=wheels,target=/mnt/wheels \
    python3 -m venv /opt/kit \
    && /opt/kit/bin/pip install --no-cache-dir --no-deps --find-links /mnt/wheels \
       --require-hashes --requirement /opt/longtrek/requirements.lock
ENV PATH=/opt/kit/bin:$PATH LANG=C.UTF-8
COPY . /opt/longtrek
RUN /opt/kit/bin/pip install --no-cache-dir --no-deps --no-build-isolation --editable /opt/longtrek


FROM ${BASE_IMAGE:-nvidia/cuda:13.0.0-devel-ubuntu24.04@sha256:1e8ac7a54c184a1af8ef2167f28fa98281892a835c981ebcddb1fad04bdd452d} AS engine
ARG ENGINE_LOCK=requirements-engine-cuda.lock
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
COPY requirements.lock /opt/longtrek/
RUN --mount=type=secret,id=pip,target=/etc/pip.conf --mount=type=bind,from=wheels,target=/mnt/wheels \
    python3 -m venv /opt/kit \
    && /opt/kit/bin/pip install --no-cache-dir --no-deps --find-links /mnt/wheels \
       --require-hashes --requirement /opt/longtrek/requirements.lock
ENV PATH=/opt/kit/bin:$PATH LANG=C.UTF-8
# vLLM's kernels are compiled for the GPU that they find, when it starts: that needs a C compiler and Python's headers.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends gcc libc6-dev libnuma1 python3-dev \
    && rm -rf /var/lib/apt/lists/*
COPY ${ENGINE_LOCK} /opt/longtrek/
RUN --mount=type=secret,id=pip,target=/etc/pip.conf --mount=type=bind,from=wheels,target=/mnt/wheels \
    python3 -m venv /opt/engine \
    && /opt/engine/bin/pip install --no-cache-dir --no-deps --find-links /mnt/wheels \
       --require-hashes --requirement "/opt/longtrek/${ENGINE_LOCK}"
ENV LONGTREK_ENGINE_PYTHON=/opt/engine/bin/python
COPY . /opt/longtrek
RUN /opt/kit/bin/pip install --no-cache-dir --no-deps --no-build-isolation --editable /opt/longtrek


FROM kit AS converter
ARG CONVERTER_LOCK=requirements-converter-cuda.lock
RUN --mount=type=secret,id=pip,target=/etc/pip.conf --mount=type=bind,from=wheels,target=/mnt/wheels \
    python3 -m venv /opt/converter \
    && /opt/converter/bin/pip install --no-cache-dir --no-deps --find-links /mnt/wheels \
       --require-hashes --requirement "/opt/longtrek/${CONVERTER_LOCK}"
ENV LONGTREK_CONVERTER_PYTHON=/opt/converter/bin/python
