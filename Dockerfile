# SPDX-License-Identifier: Apache-2.0
# The program with all its commands on Debian 12, installed from the project's own package:
#   docker build -t ssdtlm .
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/work" ssdtlm run hexa-16g -w job.fio -o results/first
FROM debian:12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends make
COPY . /src
WORKDIR /src
RUN make deb

FROM debian:12-slim
COPY --from=build /src/build/packages/ssdtlm_*.deb /tmp/
# The Python environment where every user of the image finds it, and a home for those whom the image does not know.
ENV XDG_DATA_HOME=/usr/local/share HOME=/tmp
RUN apt-get update \
    && apt-get install -y --no-install-recommends /tmp/ssdtlm_*.deb python3 python3-venv \
    && rm -rf /var/lib/apt/lists/* /tmp/ssdtlm_*.deb \
    && ssdtlm python setup
WORKDIR /work
ENTRYPOINT ["ssdtlm"]
