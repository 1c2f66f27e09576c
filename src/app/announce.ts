interface Announcement {
  readonly url: string
  readonly bootstrapKey: string | null
  readonly startMs: number
  /** The names of the configured providers. */
  readonly providers: readonly string[]
}

/** What a newcomer needs: where it is, the key, and a first request that works as pasted. */
export function announce({ url, bootstrapKey, startMs, providers }: Announcement): string {
  const key = bootstrapKey ?? '$PARKWAY_API_KEY'
  const body = '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hello!"}]}'
  const keyLine =
    bootstrapKey === null
      ? 'the one printed at the first start, or one made with it'
      : `${bootstrapKey}   (shown this once: keep it)`
  const answeredBy =
    providers.length === 0
      ? 'the built-in sandbox; set OPENAI_API_KEY and the like for real models'
      : providers.join(', ')
  return `
Parkway is ready (${(startMs / 1000).toFixed(1)} s).

  Base URL   ${url}/v1
  API key    ${keyLine}
  Models     ${answeredBy}
  Docs       ${url}/docs

First request:

  curl ${url}/v1/chat/completions -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" -d '${body}'

`
}
