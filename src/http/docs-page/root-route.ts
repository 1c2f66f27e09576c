import { Type } from 'typebox'
import { defineRoute, type Route } from '../route.ts'

/** The start page of the gateway, with links to the documentation. */
export function rootRoute(): Route {
  return defineRoute({
    method: 'GET',
    tag: 'Operations',
    scope: null,
    path: '/',
    summary: 'Where to begin',
    responses: {
      200: { description: 'A page with links.', schema: Type.String(), contentType: 'text/html' },
    },
    handle: async ({ reply }) => {
      reply
        .header('content-security-policy', "default-src 'none'; frame-ancestors 'none'")
        .header('referrer-policy', 'no-referrer')
        .type('text/html; charset=utf-8')
        .send(HTML)
    },
  })
}

const HTML = `<!doctype html>
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
</html>
`
