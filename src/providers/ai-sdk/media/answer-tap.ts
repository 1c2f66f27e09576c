import { parseJson } from '../read-json.ts'

/** Keeps the last successful JSON answer beside the package that reads it, because packages tell less than their vendors do. */
export interface AnswerTap {
  readonly fetch: typeof globalThis.fetch
  readAnswer(): unknown
}

export function createAnswerTap(fetch: typeof globalThis.fetch): AnswerTap {
  let last: string | undefined
  return {
    async fetch(input, init) {
      const response = await fetch(input, init)
      const text = await response.text()
      if (response.ok) last = text
      return new Response(text === '' ? null : text, {
        status: response.status,
        statusText: response.statusText,
        headers: response.headers,
      })
    },
    readAnswer: () => parseJson(last ?? ''),
  }
}
