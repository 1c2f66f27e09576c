import { Type } from 'typebox'
import { createInferenceRecord } from '../../../modules/inference/inference.ts'
import type { Moderation } from '../../../modules/moderation/moderation.ts'
import {
  MODERATION_CATEGORIES,
  ModerationRequest,
} from '../../../wires/openai-moderations/moderation-request.ts'
import { defineHotRoute, type HotRoute } from '../../route.ts'
import type { SendInference } from '../../paid/send-inference.ts'
import { toInference } from '../../paid/to-inference.ts'

const Category = Type.Enum([...MODERATION_CATEGORIES])

const ModerationAnswer = Type.Object(
  {
    id: Type.String(),
    model: Type.String({ description: 'As it was asked for; the default where none was named.' }),
    results: Type.Array(
      Type.Object({
        flagged: Type.Boolean(),
        categories: Type.Record(Category, Type.Boolean()),
        category_scores: Type.Record(Category, Type.Number()),
        category_applied_input_types: Type.Record(Category, Type.Array(Type.Enum(['text', 'image']))),
      }),
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
    scope: 'inference',
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
