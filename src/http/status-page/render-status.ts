import { createHash } from 'node:crypto'
import type { PublicStatus, State } from './read-status.ts'

const NAMES: Readonly<Record<State, string>> = {
  operational: 'operational',
  degraded: 'degraded',
  down: 'down',
  unknown: 'no data',
}

const HEADLINES: Readonly<Record<State, string>> = {
  operational: 'All providers are operational',
  degraded: 'Some providers do not work as usual',
  down: 'No provider answers',
  unknown: 'There is no data about this hour',
}

/** Writes the page. It needs no script. */
export function renderStatus({ state, updated_at: at, providers }: PublicStatus): string {
  const sections = providers.map(
    ({ name, state: now, uptime, days }) => `<section>
<h2>${escape(name)} <span class="${now}">${NAMES[now]}</span></h2>
<ol aria-label="The last 30 days of ${escape(name)}">${days
      .map((day) => {
        const text = `${day.date}: ${NAMES[day.state]}${day.uptime === null ? '' : `, ${percentOf(day.uptime)} uptime`}`
        return `<li class="${day.state}" title="${text}"><span>${text}</span></li>`
      })
      .join('')}</ol>
<p>${uptime === null ? 'Not called in the last 30 days.' : `${percentOf(uptime)} uptime in the last 30 days.`}</p>
</section>
`,
  )
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="60">
<link rel="icon" href="data:,">
<title>Status</title>
<style>${STYLE}</style>
<main>
<h1 class="${state}">${HEADLINES[state]}</h1>
${sections.join('')}<p>As of ${escape(at)}. Days and hours are those of UTC. The same as data: <a href="/status.json">status.json</a>.</p>
</main>
</html>
`
}

function percentOf(share: number): string {
  return `${(share * 100).toFixed(share === 1 ? 0 : 2)} %`
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`)
}

const STYLE = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
main{max-width:44rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.25rem;padding:.75rem 1rem;border-left:.5rem solid gray}
h1.operational{border-color:#1a7f37}h1.degraded{border-color:#bf8700}h1.down{border-color:#cf222e}
h2{font-size:1rem;display:flex;justify-content:space-between;margin:1.5rem 0 .25rem}
h2 span{font-weight:normal}
ol{display:flex;gap:2px;margin:0;padding:0;list-style:none}
li{flex:1;height:2rem;background:#8886;border-radius:2px}
li.operational{background:#1a7f37}li.degraded{background:#bf8700}li.down{background:#cf222e}
li span{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
p{color:gray;font-size:.875rem}`

export const STATUS_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
}
