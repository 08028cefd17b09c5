# One image for every part: `slagveld api`, `slagveld worker`, and bots served by gunicorn. docker-compose.yml uses it.
FROM python:3.12-slim AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/slagveld
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY bot_sdk bot_sdk
COPY service service
# Here the store is a container of its own; the embedded one is for `slagveld backup` and `slagveld restore`.
RUN /opt/slagveld/bin/pip install '.[service]' && /opt/slagveld/bin/pip uninstall --yes pip

FROM python:3.12-slim
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin slagveld \
  && install --directory --owner slagveld /archive
COPY --from=build /opt/slagveld /opt/slagveld
ENV PATH=/opt/slagveld/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER slagveld
WORKDIR /tmp
EXPOSE 8000
CMD ["slagveld", "api", "--host", "0.0.0.0"]
