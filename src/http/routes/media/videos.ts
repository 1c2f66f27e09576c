import { Type } from 'typebox'
import { IMAGE_BYTES_MAX, type Generation } from '../../../modules/generation/generation.ts'
import { nullable } from '../../../wires/nullable.ts'
import { ImageInput, readClientImage } from '../../parameters/client-image.ts'
import { refuseMembers, type RefusedMembers } from '../../bodies/refuse-members.ts'
import { inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { TaskMembers, TaskReceipt, type RunGeneration } from '../../paid/run-generation.ts'

const DURATION_SECONDS_MAX = 60
const BODY_BYTES_MAX = Math.ceil((IMAGE_BYTES_MAX * 4) / 3) + 1024 * 1024

const VideoGenerationRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, maxLength: 256, description: 'A model id from `GET /v1/models`.' }),
    prompt: Type.String({ minLength: 1, maxLength: 32_000, description: 'The prompt.' }),
    duration: nullable(
      Type.Integer({
        minimum: 1,
        maximum: DURATION_SECONDS_MAX,
        description: 'In seconds, as far as the model goes.',
      }),
    ),
    aspect_ratio: nullable(
      Type.String({ pattern: '^[1-9]\\d{0,2}:[1-9]\\d{0,2}$', description: '`<width>:<height>`.' }),
    ),
    image_url: nullable(
      ImageInput,
      'A picture: an `https` address, a data URI, or the address of a file that this gateway keeps.',
    ),
    resolution: nullable(
      Type.String({
        pattern: '^([1-9]\\d{2,3}[pP]|[248][kK]|[1-9]\\d{1,4}x[1-9]\\d{1,4})$',
        description: 'Such as `720p`, `1080p`, `4k` or `1280x720`.',
      }),
    ),
    size: nullable(
      Type.String({ pattern: '^[1-9]\\d{1,4}x[1-9]\\d{1,4}$', description: '`<width>x<height>`.' }),
    ),
    seed: nullable(
      Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
      'Asks for the same result for the same request, where the model can.',
    ),
    negative_prompt: nullable(Type.String({ maxLength: 32_000 }), 'What must not be in the result.'),
    audio: nullable(Type.Boolean({ description: 'With sound, where the model has the choice.' })),
    ...TaskMembers,
  },
  {
    title: 'VideoGenerationRequest',
    examples: [
      { model: 'wan-2.6-t2v', prompt: 'Waves on a beach, from above', duration: 5, aspect_ratio: '16:9' },
    ],
  },
)

const ONE_VIDEO = { hint: 'A request makes one video.', ordinary: [1] }
const DURATION = { hint: 'Use `duration`, in seconds.' }
const RESOLUTION = { hint: 'Use `resolution`.' }
const AUDIO = { hint: 'Use `audio`.' }
const REFUSED: RefusedMembers = {
  n: ONE_VIDEO,
  num_videos: ONE_VIDEO,
  fps: { hint: 'Models choose their frame rate.' },
  num_frames: DURATION,
  seconds: DURATION,
  duration_seconds: DURATION,
  quality: RESOLUTION,
  mode: RESOLUTION,
  generate_audio: AUDIO,
  with_audio: AUDIO,
}

interface VideoRouteOptions {
  readonly generation: Pick<Generation, 'durationOf'>
  readonly runGeneration: RunGeneration
}

export const videoRoutes = ({ generation, runGeneration }: VideoRouteOptions): Route[] => [
  defineRoute({
    method: 'POST',
    path: '/v1/videos/generations',
    takesTags: 'header',
    summary: 'Make a video',
    tag: 'Video',
    access: inProject('models.use'),
    body: VideoGenerationRequest,
    bodyLimitBytes: BODY_BYTES_MAX,
    responses: { 202: { description: 'The task that makes it.', schema: TaskReceipt } },
    handle: (request) => {
      const { body } = request
      refuseMembers(body, REFUSED)
      return runGeneration(request, {
        type: 'video',
        model: body.model,
        work: {
          kind: 'video',
          prompt: body.prompt,
          image: body.image_url ? readClientImage(body.image_url, 'image_url') : null,
          durationSeconds: body.duration ?? generation.durationOf('video', body.model),
          aspectRatio: body.aspect_ratio ?? null,
          resolution: body.resolution?.toLowerCase() ?? body.size ?? null,
          seed: body.seed ?? null,
          negativePrompt: body.negative_prompt || null,
          withAudio: body.audio ?? null,
        },
        responseFormat: 'url',
      })
    },
  }),
]
