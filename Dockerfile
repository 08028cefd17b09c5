# One image for every part: `slagveld api`, `slagveld worker`, and bots served by gunicorn. docker-compose.yml uses it.
# What it is made of is pinned: the base by its version (docs/operations.md says how to pin its digest), packages by
# their hashes, in deploy/requirements*.txt, which `make lock` makes anew.
FROM python:3.12.12-slim-bookworm AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /src
COPY deploy/requirements.txt deploy/requirements-build.txt deploy/
RUN python -m venv /opt/build \
  && /opt/build/bin/pip install --require-hashes --requirement deploy/requirements-build.txt \
  && python -m venv /opt/slagveld \
  && /opt/slagveld/bin/pip install --require-hashes --requirement deploy/requirements.txt
COPY pyproject.toml README.md LICENSE ./
COPY bot_sdk bot_sdk
COPY service service
RUN /opt/build/bin/hatchling build --target wheel --directory /wheel \
  && /opt/slagveld/bin/pip install --no-deps --no-index /wheel/*.whl \
  && /opt/slagveld/bin/pip uninstall --yes pip

FROM python:3.12.12-slim-bookworm
# Folders that volumes are mounted on: a volume that is new gets their owner.
RUN groupadd --system --gid 10001 slagveld \
  && useradd --system --uid 10001 --gid slagveld --no-create-home --shell /usr/sbin/nologin slagveld \
  && install --directory --owner slagveld --group slagveld --mode 0700 /archive /secrets /organiser
COPY --from=build /opt/slagveld /opt/slagveld
ENV PATH=/opt/slagveld/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
WORKDIR /tmp
EXPOSE 8000
CMD ["slagveld", "api", "--host", "0.0.0.0"]
