import { Type, type Static } from 'typebox'
import { nullable } from '../nullable.ts'

const INPUTS_MAX = 256

/** OpenAI's thirteen categories. Every response contains all of them. */
export const MODERATION_CATEGORIES = [
  'harassment',
  'harassment/threatening',
  'hate',
  'hate/threatening',
  'illicit',
  'illicit/violent',
  'self-harm',
  'self-harm/intent',
  'self-harm/instructions',
  'sexual',
  'sexual/minors',
  'violence',
  'violence/graphic',
] as const

const Part = Type.Union([
  Type.Object({ type: Type.Literal('text'), text: Type.String() }),
  Type.Object({
    type: Type.Literal('image_url'),
    image_url: Type.Object({ url: Type.String({ minLength: 1 }) }),
  }),
])

/** OpenAI's moderation. */
export const ModerationRequest = Type.Object(
  {
    model: nullable(Type.String({ minLength: 1, maxLength: 256 })),
    input: Type.Union([
      Type.String(),
      Type.Array(Type.String(), { minItems: 1, maxItems: INPUTS_MAX }),
      Type.Array(Part, { minItems: 1, maxItems: INPUTS_MAX }),
    ]),
  },
  { examples: [{ input: 'I will plant a tree.' }] },
)

export type ModerationPart = Static<typeof Part>
export type ModerationRequest = Static<typeof ModerationRequest>
