# The image that deploy/helm/parkway expects: docker build -t parkway .
# `npm run test:image` runs these steps one by one without an engine, and checks what they make.
FROM node:24-trixie-slim AS console

WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
# The settings of the console extend those of the gateway.
COPY tsconfig.json ./
COPY console console
RUN npm run build:console

FROM node:24-trixie-slim AS packages

WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# npm runs these three after the install.
COPY packaging/link-program.cjs packaging/prune-packages.cjs packaging/
# Says that there is no console to build here, and lets the install go on.
COPY console/scripts/prepare-console.cjs console/scripts/
# The engine for GGUF models is an optional package, which would like a compiler beside it. The image has a Node already, and the list of
# what was installed names where from.
RUN npm ci --omit=dev \
  && npm install --no-save --save-prod --omit=dev node-llama-cpp \
  && rm -rf node_modules/typescript node_modules/@typescript node_modules/.bin/ts[cs]* \
  && node packaging/prune-packages.cjs \
  && rm -rf node_modules/node-linux-* node_modules/.cache node_modules/.package-lock.json

# Without npm and the headers of Node, which the program does not need.
FROM debian:trixie-slim

WORKDIR /app
COPY --from=packages /usr/local/bin/node /usr/local/bin/node
COPY package.json CHANGELOG.md THIRD_PARTY.md LICENSE ./
COPY --from=packages /app/node_modules node_modules
COPY bin bin
COPY cli cli
COPY src src
COPY --from=console /app/console/dist console/dist

# PostgreSQL refuses to run as root, and so does the chart. Not with useradd, which writes the day into the layer.
RUN echo 'parkway:x:10001:10001::/home/parkway:/usr/sbin/nologin' >> /etc/passwd \
  && echo 'parkway:x:10001:' >> /etc/group \
  && install -d -o 10001 -g 10001 /home/parkway /data
USER 10001
ENV HOST=0.0.0.0 PORT=8080 PARKWAY_DATA_DIR=/data NODE_ENV=production HOME=/home/parkway
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "bin/parkway.cjs"]
CMD ["serve"]
