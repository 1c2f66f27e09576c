import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import fastify from 'fastify'

/** The rendered reference. Everything it needs comes from this server, and its policy lets nothing else in. */
export interface DocsPage {
  readonly html: string
  readonly startScript: string
  readonly contentSecurityPolicy: string
  /** The reference interface, compressed with gzip. Loaded and compressed when first asked for, then kept. */
  loadBundle(): Promise<Buffer>
}

export interface DocsPageOptions {
  readonly title: string
  readonly documentPath: string
  readonly bundlePath: string
  readonly startScriptPath: string
}

export function createDocsPage(options: DocsPageOptions): DocsPage {
  let bundle: Promise<Buffer> | null = null
  return {
    html: renderHtml(options),
    startScript: renderStartScript(options),
    contentSecurityPolicy: CONTENT_SECURITY_POLICY,
    loadBundle: () => {
      bundle ??= readBundle()
      return bundle
    },
  }
}

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

function renderHtml({ title, bundlePath, startScriptPath }: DocsPageOptions): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="referrer" content="no-referrer" />
    <link rel="icon" href="data:," />
    <title>${title}</title>
  </head>
  <body>
    <div id="reference"></div>
    <noscript>This page needs JavaScript. The same in JSON: <a href="/openapi.json">/openapi.json</a>.</noscript>
    <script src="${bundlePath}"></script>
    <script src="${startScriptPath}"></script>
  </body>
</html>
`
}

function renderStartScript({ documentPath }: DocsPageOptions): string {
  const settings = {
    url: documentPath,
    // Each of these reaches for another host unless told otherwise.
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    hideClientButton: true,
    showDeveloperTools: 'never',
    // What a gateway is asked with most; the rest would be a menu of forty.
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    defaultOpenFirstTag: true,
    persistAuth: false,
  }
  return `Scalar.createApiReference('#reference', ${JSON.stringify(settings)})\n`
}

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
