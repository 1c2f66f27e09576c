import { Type, type TSchema } from 'typebox'
import { createInferenceRecord } from '../../../modules/inference/inference.ts'
import type { Moderation } from '../../../modules/moderation/moderation.ts'
import { described } from '../../../wires/described.ts'
import { Id } from '../../../wires/usual-members.ts'
import {
  MODERATION_CATEGORIES,
  ModerationRequest,
} from '../../../wires/openai-moderations/moderation-request.ts'
import { inProject } from '../../access.ts'
import { defineHotRoute, type HotRoute } from '../../route.ts'
import type { SendInference } from '../../paid/send-inference.ts'
import { toInference } from '../../paid/to-inference.ts'

const CATEGORY_DESCRIPTIONS: Readonly<Record<(typeof MODERATION_CATEGORIES)[number], string>> = {
  harassment: 'Harassment of a person or a group.',
  'harassment/threatening': 'Harassment with a threat of violence.',
  hate: 'Hatred of a group.',
  'hate/threatening': 'Hatred of a group with a threat of violence.',
  illicit: 'Advice on wrongdoing.',
  'illicit/violent': 'Advice on violent wrongdoing.',
  'self-harm': 'Self-harm.',
  'self-harm/intent': 'An intent to harm oneself.',
  'self-harm/instructions': 'Instructions for self-harm.',
  sexual: 'Sexual content.',
  'sexual/minors': 'Sexual content with a person under 18.',
  violence: 'Violence.',
  'violence/graphic': 'Violence in graphic detail.',
}

function byCategory(schema: TSchema, description: string): TSchema {
  const members = MODERATION_CATEGORIES.map((category) => [
    category,
    described(schema, CATEGORY_DESCRIPTIONS[category]),
  ])
  return Type.Object(Object.fromEntries(members), { description })
}

const ModerationAnswer = Type.Object(
  {
    id: Id,
    model: Type.String({ description: 'As it was asked for; the default where none was named.' }),
    results: Type.Array(
      Type.Object({
        flagged: Type.Boolean({ description: 'Whether any category applies.' }),
        categories: byCategory(Type.Boolean(), 'For each category, whether it applies.'),
        category_scores: byCategory(Type.Number(), 'For each category, a score from 0 to 1.'),
        category_applied_input_types: byCategory(
          Type.Array(Type.Enum(['text', 'image'])),
          'For each category, the kinds of input that were looked at.',
        ),
      }),
      { description: 'The results, in order.' },
    ),
  },
  { title: 'Moderation' },
)

interface ModerationRouteOptions {
  readonly moderation: Moderation
  readonly sendInference: SendInference
}

export const moderationRoutes = ({ moderation, sendInference }: ModerationRouteOptions): HotRoute[] => [
  defineHotRoute({
    isHot: true,
    method: 'POST',
    path: '/v1/moderations',
    summary: 'Tell whether text or pictures are harmful',
    tag: 'Moderation',
    access: inProject('models.use'),
    body: ModerationRequest,
    responses: {
      200: {
        description: 'A judgement of each text, or of all parts together. Free where the model is.',
        schema: ModerationAnswer,
      },
    },
    handle: (request) => {
      const record = createInferenceRecord('moderation')
      return sendInference(request, record, () => moderation.moderate(toInference(request, record)))
    },
  }),
]
