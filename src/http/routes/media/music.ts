import { Type } from 'typebox'
import type { Generation } from '../../../modules/generation/generation.ts'
import { nullable } from '../../../wires/nullable.ts'
import { refuseMembers, type RefusedMembers } from '../../bodies/refuse-members.ts'
import { inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { TaskMembers, TaskReceipt, type RunGeneration } from '../../paid/run-generation.ts'

const MusicRequest = Type.Object(
  {
    model: nullable(
      Type.String({ minLength: 1, maxLength: 256, description: 'A model id from `GET /v1/models`.' }),
    ),
    prompt: Type.String({ minLength: 1, maxLength: 10_000, description: 'The prompt.' }),
    duration: nullable(
      Type.Integer({ minimum: 3, maximum: 300, description: 'In seconds; 30 unless told.' }),
    ),
    instrumental: nullable(Type.Boolean({ description: 'Without voices.' })),
    lyrics: nullable(Type.String({ maxLength: 10_000 }), 'The words to sing.'),
    output_format: nullable(Type.Enum(['mp3', 'wav'], { description: '`mp3` unless told.' })),
    ...TaskMembers,
  },
  {
    title: 'MusicRequest',
    examples: [{ model: 'elevenlabs-music', prompt: 'A calm piano piece in a minor key', duration: 10 }],
  },
)

const DURATION = { hint: 'Use `duration`, in seconds.' }
const REFUSED: RefusedMembers = {
  n: { hint: 'A request makes one piece.', ordinary: [1] },
  seconds: DURATION,
  duration_seconds: DURATION,
  duration_ms: DURATION,
  music_length_ms: DURATION,
}

interface MusicRouteOptions {
  readonly generation: Pick<Generation, 'durationOf'>
  readonly runGeneration: RunGeneration
}

export const musicRoutes = ({ generation, runGeneration }: MusicRouteOptions): Route[] => [
  defineRoute({
    method: 'POST',
    path: '/v1/audio/music',
    takesTags: 'header',
    summary: 'Make music',
    tag: 'Audio',
    access: inProject('models.use'),
    body: MusicRequest,
    responses: { 202: { description: 'The task that makes it.', schema: TaskReceipt } },
    handle: (request) => {
      const { body } = request
      refuseMembers(body, REFUSED)
      const model = body.model ?? null
      return runGeneration(request, {
        type: 'music',
        model,
        work: {
          kind: 'music',
          prompt: body.prompt,
          lyrics: body.lyrics || null,
          isInstrumental: body.instrumental ?? false,
          durationSeconds: body.duration ?? generation.durationOf('music', model),
          outputFormat: body.output_format ?? 'mp3',
        },
        responseFormat: 'url',
      })
    },
  }),
]
