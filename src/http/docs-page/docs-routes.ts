import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import fastify from 'fastify'
import { Type } from 'typebox'
import { NO_KEY } from '../access.ts'
import { defineRoute, type Route } from '../route.ts'

/**
 * Serves the rendered reference at `/docs`. All its files come from this server, and its content security policy allows no other
 * source.
 */
export function docsRoutes(): Route[] {
  let bundle: Promise<Buffer> | null = null
  const shared = { method: 'GET', tag: 'Operations', access: NO_KEY } as const
  const script = { 200: { description: 'A script of the page.', contentType: 'text/javascript' } }

  return [
    defineRoute({
      ...shared,
      path: '/docs',
      summary: 'The API reference, to read',
      responses: { 200: { description: 'A page.', schema: Type.String(), contentType: 'text/html' } },
      handle: async ({ reply }) => {
        reply
          .header('content-security-policy', CONTENT_SECURITY_POLICY)
          .header('referrer-policy', 'no-referrer')
          .type('text/html; charset=utf-8')
          .send(HTML)
      },
    }),
    defineRoute({
      ...shared,
      path: START_SCRIPT_PATH,
      summary: 'Starts the reference',
      responses: script,
      handle: async ({ reply }) => {
        reply.type('text/javascript; charset=utf-8').send(START_SCRIPT)
      },
    }),
    defineRoute({
      ...shared,
      path: BUNDLE_PATH,
      summary: 'The interface of the reference',
      responses: script,
      handle: async ({ reply, headers }) => {
        bundle ??= readBundle().catch((error: unknown) => {
          bundle = null
          throw error
        })
        const compressed = await bundle
        const takesGzip = headers['accept-encoding']?.includes('gzip') === true
        if (takesGzip) reply.header('content-encoding', 'gzip')
        reply
          .header('cache-control', 'public, max-age=86400')
          .header('vary', 'accept-encoding')
          .type('text/javascript; charset=utf-8')
          .send(takesGzip ? compressed : await promisify(gunzip)(compressed))
      },
    }),
  ]
}

const DOCUMENT_PATH = '/openapi.json'
const BUNDLE_PATH = '/docs/scalar.js'
const START_SCRIPT_PATH = '/docs/start.js'

// The interface inserts its styles inline, so inline styles are allowed. Scripts, requests, fonts and images must come from this
// server.
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const HTML = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <link rel="icon" href="data:," />
    <title>Parkway API reference</title>
  </head>
  <body>
    <div id="reference"></div>
    <noscript>This page needs JavaScript. The same in JSON: <a href="${DOCUMENT_PATH}">${DOCUMENT_PATH}</a>.</noscript>
    <script src="${BUNDLE_PATH}"></script>
    <script src="${START_SCRIPT_PATH}"></script>
  </body>
</html>
`

const SETTINGS = {
  url: DOCUMENT_PATH,
  // Each of these contacts another host by default.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  // Schemas are shown inside the operations that use them.
  hideModels: true,
  authentication: { preferredSecurityScheme: 'apiKey' },
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  // Do not store a key that is typed into the page.
  persistAuth: false,
}

const START_SCRIPT = `Scalar.createApiReference('#reference', ${JSON.stringify(SETTINGS)})\n`

/**
 * Reads the script from the package's Fastify plugin, which is the only place that has it, through a server that never listens.
 * The package is imported on demand, because it has four megabytes that most processes never need.
 */
async function readBundle(): Promise<Buffer> {
  const { default: reference } = await import('@scalar/fastify-api-reference')
  const app = fastify({ logger: false })
  try {
    await app.register(reference, { routePrefix: '/docs', configuration: { content: {} } })
    const { payload, statusCode } = await app.inject('/docs/js/scalar.js')
    if (statusCode !== 200) throw new Error(`the reference interface has no script: ${statusCode}`)
    return await promisify(gzip)(payload, { level: 9 })
  } finally {
    await app.close()
  }
}
