import type { Config } from '../settings/config.ts'
import { nameReachable, signInLink } from './sign-in-link.ts'

interface Announcement {
  readonly url: string
  /** The key of the first account, if this start created it. */
  readonly bootstrapKey: string | null
  /** Signs in to the console once. */
  readonly signInCode: string | null
  /** The model of the example request. */
  readonly exampleModel: string
  readonly config: Pick<Config, 'bootstrapKey' | 'providers' | 'publicUrl' | 'role'>
  readonly startMs: number
}

/** Returns the start message: the URL, the key, and an example request that works when pasted. */
export function announce(announcement: Announcement): string {
  const { url, bootstrapKey, signInCode, exampleModel, config, startMs } = announcement
  const baseUrl = nameReachable(url)
  if (config.role === 'worker')
    return `\nA Parkway worker is ready (${(startMs / 1000).toFixed(1)} s): ${baseUrl}/readyz\n\n`
  const key = describeKey(bootstrapKey, config.bootstrapKey)
  const body = JSON.stringify({ model: exampleModel, messages: [{ role: 'user', content: 'Hello!' }] })
  const providers = [...config.providers.keys()].join(', ')
  return `
Parkway is ready (${(startMs / 1000).toFixed(1)} s).

  Base URL   ${baseUrl}/v1
  API key    ${key.line}
  Console    ${describeConsole(config.publicUrl ?? baseUrl, signInCode)}
  Models     ${providers || 'the built-in sandbox; set OPENAI_API_KEY and the like for real models'}
  Docs       ${baseUrl}/docs

First request:

  curl ${baseUrl}/v1/chat/completions -H "Authorization: Bearer ${key.shown}" -H "Content-Type: application/json" -d '${body}'

`
}

// Do not print a key that the operator configured, because this output often ends up in logs.
function describeKey(created: string | null, given: string | null): { line: string; shown: string } {
  if (created === null)
    return {
      line: 'the one printed at the first start; `parkway admin-key create` makes another',
      shown: '$PARKWAY_API_KEY',
    }
  if (created === given) return { line: 'the one in PARKWAY_BOOTSTRAP_KEY', shown: '$PARKWAY_BOOTSTRAP_KEY' }
  return { line: `${created}   (shown this once: keep it)`, shown: created }
}

function describeConsole(baseUrl: string, signInCode: string | null): string {
  if (signInCode === null) return `${baseUrl}   (\`npx parkway sign-in-link\` prints a link that signs in)`
  return `${signInLink(baseUrl, signInCode)}   (signs in once, within an hour)`
}
