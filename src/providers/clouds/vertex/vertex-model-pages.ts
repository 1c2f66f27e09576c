import { readPath, readString } from '../../ai-sdk/exchange/read-json.ts'
import type { ModelPage } from '../../model-page.ts'

/**
 * The models of Google and Anthropic that the gateway calls. Other publishers list models there that a customer must deploy first, so
 * theirs are named by hand.
 * https://cloud.google.com/vertex-ai/docs/reference/rest/v1beta1/publishers.models/list
 */
export function listVertexModels(baseUrl: string): readonly ModelPage[] {
  const { origin } = new URL(baseUrl)
  return [
    publisherPage(origin, 'google', (id) => (CALLED.test(id) ? id : null)),
    publisherPage(origin, 'anthropic', (id, version) =>
      version === undefined || version === 'default' || id.includes('@') ? id : `${id}@${version}`,
    ),
  ]
}

const CALLED = /^(?:gemini-|text-(?:multilingual-)?embedding-)/

type NameModel = (id: string, version: string | undefined) => string | null

function publisherPage(origin: string, publisher: string, name: NameModel, token?: string): ModelPage {
  const query = new URLSearchParams({ pageSize: '100', ...(token === undefined ? {} : { pageToken: token }) })
  return {
    url: `${origin}/v1beta1/publishers/${publisher}/models?${query.toString()}`,
    read(answer) {
      const list = readPath(answer, 'publisherModels') ?? []
      if (!Array.isArray(list)) return null
      const next = readString(answer, 'nextPageToken') ?? ''
      return {
        names: list.flatMap((model: unknown) => {
          const id = readString(model, 'name')?.split('/').at(-1) ?? ''
          return (id === '' ? null : name(id, readString(model, 'versionId'))) ?? []
        }),
        next: next === '' ? undefined : publisherPage(origin, publisher, name, next).url,
      }
    },
  }
}
