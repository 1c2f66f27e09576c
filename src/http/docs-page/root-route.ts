import { Type } from 'typebox'
import type { ConsoleSite } from '../console-site/console-site.ts'
import { NO_KEY } from '../access.ts'
import { defineRoute, type Route } from '../route.ts'

/** The console, or a page with links to the documentation if the console is not built or not served. */
export function rootRoute({ consoleSite }: { consoleSite: ConsoleSite | null }): Route {
  return defineRoute({
    method: 'GET',
    tag: 'Operations',
    access: NO_KEY,
    path: '/',
    summary: 'The console',
    responses: {
      200: { description: 'A page.', schema: Type.String(), contentType: 'text/html' },
      304: { description: 'The client has it: `If-None-Match`.' },
    },
    handle: async ({ reply }) => {
      if (consoleSite !== null && (await consoleSite.answerPage(reply.request, reply))) return
      reply
        .header('cache-control', 'no-cache')
        .header('content-security-policy', "default-src 'none'; frame-ancestors 'none'")
        .header('referrer-policy', 'no-referrer')
        .type('text/html; charset=utf-8')
        .send(consoleSite === null ? LINKS : LINKS + BUILD_NOTE)
    },
  })
}

const LINKS = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Parkway</title>
<h1>Parkway</h1>
<p>This is a gateway to AI models. Its API begins at <code>/v1</code>.</p>
<ul>
<li><a href="/docs">API reference</a>
<li><a href="/openapi.json">OpenAPI document</a>
<li><a href="/readyz">State of this process</a>
</ul>
`

const BUILD_NOTE = `<p>The console is not built. To build it, run <code>npm run build:console</code> in the folder of the gateway.</p>
`
