# syntax=docker/dockerfile:1
# The command as a container: Node and the bundle, nothing else of ours.
#   docker build -t registry.example.com/eventgrid-binding:0.2.0 .
#   docker build --build-arg VARIANT=bookworm-slim ...    Debian in place of Alpine
ARG VARIANT=alpine

# The bundle is the same on every platform, so it is made once, on the platform of the builder.
FROM --platform=$BUILDPLATFORM node:24-bookworm-slim AS bundle
WORKDIR /source
COPY package.json package-lock.json .npmrc ./
COPY packages/emulator/package.json packages/emulator/
RUN npm ci
COPY . .
RUN npm run bundle

FROM node:24-${VARIANT}
COPY --from=bundle /source/bundle /app
COPY build/healthcheck.mjs /app/healthcheck.mjs
# Where daprd looks for sockets; in Kubernetes a volume takes its place.
RUN mkdir -p /tmp/dapr-components-sockets /app/compiled && chown 65532:65532 /tmp/dapr-components-sockets /app/compiled
USER 65532:65532
# Memory of serve and run. The emulator may need more: docker run -e NODE_OPTIONS= ...
ENV NODE_ENV=production NODE_OPTIONS="--max-old-space-size=96 --max-semi-space-size=1"
# Code that is compiled already, for this user and these options. By a start of both sides, which finds no Azure and is ended: --help loads
# less, and a start would take 27 ms of processor time more with an access key alone, 50 ms with both sides.
ENV NODE_COMPILE_CACHE=/app/compiled
WORKDIR /app/examples/starter
RUN node /app/eventgrid-binding.js serve --help && \
    export AZURE_AUTHORITY_HOST=https://127.0.0.1:1 AZURE_RESOURCE_MANAGER_URL=https://127.0.0.1:1 && \
    { timeout 10 node /app/eventgrid-binding.js run --components components || [ $? = 124 ]; }
WORKDIR /work
EXPOSE 9000 9464
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s CMD ["node", "/app/healthcheck.mjs"]
# No shell between us and SIGTERM.
ENTRYPOINT ["node", "/app/eventgrid-binding.js"]
CMD ["serve", "--metrics-port", "9464"]
