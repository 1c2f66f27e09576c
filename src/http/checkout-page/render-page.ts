import { createHash } from 'node:crypto'
import { lookupTable } from '../../kernel/lookup-table.ts'

/** A page of the checkout with a few lines and at most two buttons. It works without scripts and loads nothing. */
export interface CheckoutPage {
  readonly title: string
  /** Shown in large type. */
  readonly amount?: string
  readonly tone: 'open' | 'good' | 'bad'
  readonly lines: readonly string[]
  readonly actions?: readonly PageAction[]
  /** A link to continue. */
  readonly link?: { readonly href: string; readonly label: string }
}

/** A button that posts an empty form. */
interface PageAction {
  readonly path: string
  readonly label: string
  readonly isMain: boolean
}

export function renderPage({ title, amount, tone, lines, actions = [], link }: CheckoutPage): string {
  const paragraphs = lines.map((line) => `<p>${escapeHtml(line)}</p>`).join('\n      ')
  const forms = actions.map(
    ({ path, label, isMain }) =>
      `<form method="post" action="${escapeHtml(path)}"><button${isMain ? ' class="main"' : ''}>${escapeHtml(label)}</button></form>`,
  )
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="robots" content="noindex" />
    <link rel="icon" href="data:," />
    <title>${escapeHtml(title)}</title>
    <style>${STYLE}</style>
  </head>
  <body>
    <main class="${tone}">
      <p class="brand">Parkway</p>
      <div class="mark" aria-hidden="true">${MARKS[tone]}</div>
      <h1>${escapeHtml(title)}</h1>
      ${amount === undefined ? '' : `<p class="amount">${escapeHtml(amount)}</p>`}
      ${paragraphs}
      ${forms.join('\n      ')}
      ${link === undefined ? '' : `<a href="${escapeHtml(link.href)}" rel="noreferrer">${escapeHtml(link.label)}</a>`}
    </main>
  </body>
</html>
`
}

/** Returns the headers of a page. Its URL is a secret, so no referrer is sent. */
export function pageHeaders({ formTargets = [] }: { formTargets?: readonly (string | null)[] } = {}): Record<
  string,
  string
> {
  // Browsers apply `form-action` to redirects after a form too, so their targets must be allowed.
  const origins = formTargets.flatMap((target) => (target === null ? [] : [new URL(target).origin]))
  return {
    'content-security-policy': [
      "default-src 'none'",
      `style-src 'sha256-${STYLE_HASH}'`,
      'img-src data:',
      ["form-action 'self'", ...new Set(origins)].join(' '),
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  }
}

const MARKS: Readonly<Record<CheckoutPage['tone'], string>> = { open: '$', good: '✓', bad: '✕' }

const STYLE = `
:root{color-scheme:light dark;--page:#f4f5f7;--card:#fff;--ink:#16181d;--soft:#5d6470;--line:#dfe2e7;--main:#3d5afe;--good:#12805c;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--page:#0f1115;--card:#181b21;--ink:#eceef2;--soft:#a0a7b4;--line:#2b3039;--main:#6c83ff;--good:#3ecf9b;--bad:#ff8a80}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:24px;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{width:100%;max-width:400px;padding:40px 32px;background:var(--card);border:1px solid var(--line);border-radius:20px;box-shadow:0 12px 40px rgb(0 0 0/.08);text-align:center}
.brand{margin:0 0 24px;color:var(--soft);font-size:13px;font-weight:600;letter-spacing:.14em;text-transform:uppercase}
.mark{width:56px;height:56px;margin:0 auto 20px;display:grid;place-items:center;border-radius:50%;background:var(--main);color:var(--card);font-size:26px;font-weight:700}
.good .mark{background:var(--good)}.bad .mark{background:var(--bad)}
h1{margin:0 0 8px;font-size:20px}
p{margin:0 0 8px;color:var(--soft)}
.amount{margin:8px 0 16px;color:var(--ink);font-size:44px;font-weight:700;line-height:1.1;font-variant-numeric:tabular-nums}
form{margin:12px 0 0}form:first-of-type{margin-top:24px}
button{width:100%;padding:14px;border:1px solid var(--line);border-radius:12px;background:none;color:inherit;font:inherit;font-weight:600;cursor:pointer}
button.main{border-color:var(--main);background:var(--main);color:#fff}
button:focus-visible,a:focus-visible{outline:3px solid var(--main);outline-offset:2px}
a{display:inline-block;margin-top:16px;color:var(--main);font-weight:600}
`

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}

const ENTITIES = lookupTable<string>({
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
})
