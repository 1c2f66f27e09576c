import { Type } from 'typebox'
import { invalidValue } from '../../../kernel/app-error.ts'
import type { ListedVoice, Speech } from '../../../modules/speech/speech.ts'
import { listAnswer, ListQuery, listSchema, PAGE_LIMIT_DEFAULT } from '../../answers/list-page.ts'
import { inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'

const VoiceAnswer = Type.Object(
  {
    id: Type.String({ description: 'To be sent as `voice`.' }),
    name: Type.String({ description: 'The name of the voice.' }),
    language: Type.String({ description: 'ISO 639-1, or `multi`.' }),
    gender: Type.Enum(['female', 'male', 'neutral'], {
      description: 'How the voice sounds: `female`, `male` or `neutral`.',
    }),
    provider: Type.String({ description: 'The upstream that has the voice.' }),
    preview_url: Type.Optional(Type.String({ description: 'A sample of the voice.' })),
  },
  { title: 'Voice' },
)

const Query = Type.Object({
  ...ListQuery.properties,
  model: Type.Optional(Type.String({ maxLength: 256, description: 'Only those of this model.' })),
  language: Type.Optional(Type.String({ minLength: 2, maxLength: 16, description: 'As ISO 639-1.' })),
})

export const voiceRoutes = ({ speech }: { speech: Pick<Speech, 'voices'> }): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/v1/audio/voices',
    summary: 'List the voices of speech models',
    tag: 'Audio',
    access: inProject('models.use'),
    query: Query,
    otherErrors: [404],
    responses: { 200: { description: 'Voices.', schema: listSchema('voices', VoiceAnswer) } },
    handle: async ({ caller, query, exchange }) => {
      const { model, language, limit = PAGE_LIMIT_DEFAULT, after } = query
      const voices = await speech.voices(caller, { model, language }, exchange.cancellation)
      return listAnswer('voices', selectPage(voices, limit, after), toWire)
    },
  }),
]

/** Returns a page of voices. The cursor has the provider and the voice id, because two providers may use the same voice id. */
function selectPage(voices: readonly ListedVoice[], limit: number, after: string | undefined) {
  const all = voices.map((voice) => ({ voice, id: `${voice.provider}:${voice.id}` }))
  const start = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1
  if (after !== undefined && start === 0)
    throw invalidValue('after', 'after must be a cursor from the next_cursor of an earlier page.')
  const items = all.slice(start, start + limit)
  return { items, total: all.length, hasMore: start + items.length < all.length }
}

function toWire({ voice }: { voice: ListedVoice }): Record<string, unknown> {
  const { id, name, language, gender, provider, previewUrl } = voice
  return {
    id,
    name,
    language,
    gender,
    provider,
    ...(previewUrl === undefined ? {} : { preview_url: previewUrl }),
  }
}
