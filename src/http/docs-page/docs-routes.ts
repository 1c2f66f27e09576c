import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import fastify from 'fastify'
import { Type } from 'typebox'
import { defineRoute, type Route } from '../route.ts'

/**
 * The rendered reference at `/docs`. Everything it needs comes from this server, and the policy of the page lets nothing
 * else in.
 */
export function docsRoutes(): Route[] {
  let bundle: Promise<Buffer> | null = null
  const shared = { method: 'GET', tag: 'Operations', scope: null } as const
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

// The interface writes its style sheet into the page itself; scripts, requests, fonts and images must be ours.
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
  // Each of these reaches for another host unless told otherwise.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  // The schemas stand where they are used.
  hideModels: true,
  authentication: { preferredSecurityScheme: 'apiKey' },
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  // A key typed into the page is forgotten with it.
  persistAuth: false,
}

const START_SCRIPT = `Scalar.createApiReference('#reference', ${JSON.stringify(SETTINGS)})\n`

/**
 * The package offers its script through a Fastify plugin alone, so a server that never listens is asked for it. Imported
 * on demand: it is four megabytes that most processes never need.
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
