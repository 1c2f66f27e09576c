# The image that deploy/helm/parkway expects: docker build -t parkway .
FROM node:24-trixie-slim AS console

WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
# The settings of the console extend those of the gateway.
COPY tsconfig.json ./
COPY console console
RUN npm run build:console

FROM node:24-trixie-slim

WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# npm runs these three after the install.
COPY packaging/link-program.cjs packaging/prune-packages.cjs packaging/
# Says that there is no console to build here, and lets the install go on.
COPY console/scripts/prepare-console.cjs console/scripts/
# The engine for GGUF models is an optional package.
RUN npm ci --omit=dev && npm install --no-save --save-prod --omit=dev node-llama-cpp && npm cache clean --force
COPY bin bin
COPY cli cli
COPY src src
COPY --from=console /app/console/dist console/dist

# PostgreSQL refuses to run as root, and so does the chart.
RUN useradd --uid 10001 --create-home parkway && install -d -o parkway -g parkway /data
USER 10001
ENV HOST=0.0.0.0 PORT=8080 PARKWAY_DATA_DIR=/data NODE_ENV=production
VOLUME /data
EXPOSE 8080
ENTRYPOINT ["node", "bin/parkway.cjs"]
CMD ["serve"]
