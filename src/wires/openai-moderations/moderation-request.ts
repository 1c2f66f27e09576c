import { Type, type Static } from 'typebox'
import { nullable } from '../nullable.ts'
import { partType } from '../usual-members.ts'

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
  Type.Object({ type: partType('text'), text: Type.String({ description: 'The text.' }) }),
  Type.Object({
    type: partType('image_url'),
    image_url: Type.Object(
      { url: Type.String({ minLength: 1, description: 'The address of the picture.' }) },
      {
        description:
          'A picture: an `https` address, a data URI, or the address of a file that this gateway keeps.',
      },
    ),
  }),
])

/** OpenAI's moderation. */
export const ModerationRequest = Type.Object(
  {
    model: nullable(Type.String({ minLength: 1, maxLength: 256 }), 'The id of the model.'),
    input: Type.Union(
      [
        Type.String(),
        Type.Array(Type.String(), { minItems: 1, maxItems: INPUTS_MAX }),
        Type.Array(Part, { minItems: 1, maxItems: INPUTS_MAX }),
      ],
      { description: 'What is judged: a text, several texts, or the parts of one input.' },
    ),
  },
  { examples: [{ input: 'I will plant a tree.' }] },
)

export type ModerationPart = Static<typeof Part>
export type ModerationRequest = Static<typeof ModerationRequest>
