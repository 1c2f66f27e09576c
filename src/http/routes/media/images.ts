import { IMAGE_BYTES_MAX, type ClientFile } from '../../../modules/generation/generation.ts'
import { AppError } from '../../../kernel/app-error.ts'
import { isRecord } from '../../../kernel/is-record.ts'
import type { ImageInput } from '../../parameters/client-image.ts'
import type { FormDescription, UploadedFile } from '../../multipart/form.ts'
import { sendEventReply } from '../../answers/send-event-reply.ts'
import { inProject } from '../../access.ts'
import { defineRoute, type Route, type RouteRequest } from '../../route.ts'
import { imageEvents } from './image-events.ts'
import { readEdit, readGeneration, readImages, readTarget } from './image-order.ts'
import { TaskReceipt, type RunGeneration } from '../../paid/run-generation.ts'
import {
  BackgroundRemovalRequest,
  ImageAnswer,
  ImageEditRequest,
  ImageGenerationRequest,
  IMAGES_MAX,
  UpscaleRequest,
} from './image-wire.ts'

const MEBIBYTE = 1024 * 1024
/** Limit for a JSON body with one image of the largest size in base64 and the other members. */
const ONE_IMAGE_JSON_BYTES_MAX = Math.ceil((IMAGE_BYTES_MAX * 4) / 3) + MEBIBYTE
/** Limit for a JSON body with two images in base64. More than two must be sent as a form or by URL. */
const EDIT_JSON_BYTES_MAX = 2 * ONE_IMAGE_JSON_BYTES_MAX

const ONE_IMAGE_FORM: FormDescription = {
  files: {
    image: { countMax: 1, bytesMax: IMAGE_BYTES_MAX, isRequired: true, description: 'The image.' },
  },
}
const ONE_IMAGE = { form: ONE_IMAGE_FORM, bodyLimitBytes: ONE_IMAGE_JSON_BYTES_MAX }

const EDIT_FORM: FormDescription = {
  files: {
    image: {
      countMax: IMAGES_MAX,
      bytesMax: IMAGE_BYTES_MAX,
      isRequired: true,
      otherName: 'images',
      description: 'What to edit.',
    },
    mask: {
      countMax: 1,
      bytesMax: IMAGE_BYTES_MAX,
      isRequired: false,
      description: 'Where to: what is transparent in it.',
    },
  },
}

const shared = {
  method: 'POST',
  tag: 'Images',
  access: inProject('models.use'),
  takesTags: 'header',
  responses: {
    200: { description: 'The images, of a model that answers at once.', schema: ImageAnswer },
    202: {
      description: 'A task, of a model that takes its time, or with `Prefer: respond-async`.',
      schema: TaskReceipt,
    },
  },
} as const

export const imageRoutes = ({ runGeneration }: { runGeneration: RunGeneration }): Route[] => [
  defineRoute({
    ...shared,
    path: '/v1/images/generations',
    summary: 'Make images',
    body: ImageGenerationRequest,
    handle: (request) => runImages(runGeneration, request, readGeneration(request.body)),
  }),
  defineRoute({
    ...shared,
    path: '/v1/images/edits',
    summary: 'Edit images',
    body: ImageEditRequest,
    form: EDIT_FORM,
    bodyLimitBytes: EDIT_JSON_BYTES_MAX,
    handle: (request) => runImages(runGeneration, request, readEdit(request.body, request.files)),
  }),
  defineRoute({
    ...shared,
    path: '/v1/images/upscale',
    summary: 'Enlarge an image',
    body: UpscaleRequest,
    ...ONE_IMAGE,
    handle: (request) => {
      const { scale, prompt } = request.body
      return runGeneration(request, {
        type: 'upscale',
        work: { kind: 'upscale', image: readOneImage(request), scale: scale ?? 2, prompt: prompt || null },
        ...readTarget(request.body),
      })
    },
  }),
  defineRoute({
    ...shared,
    path: '/v1/images/bg-remove',
    summary: 'Cut an image out of its background',
    body: BackgroundRemovalRequest,
    ...ONE_IMAGE,
    handle: (request) => {
      const outputFormat = request.body.output_format ?? 'png'
      return runGeneration(request, {
        type: 'bg_remove',
        work: { kind: 'bg_remove', image: readOneImage(request), outputFormat },
        ...readTarget(request.body),
      })
    },
  }),
]

type ImageRequest = RouteRequest<Omit<ImageGenerationRequest, 'model'>, unknown, unknown>

/** Answers with the images, or with a stream that has an event for each. A task that takes too long is a receipt either way. */
async function runImages(
  runGeneration: RunGeneration,
  request: ImageRequest,
  order: Parameters<RunGeneration>[1],
): Promise<unknown> {
  const { body, reply, exchange } = request
  if (body.stream !== true) return runGeneration(request, order)
  const answer = await runGeneration(request, { ...order, responseFormat: 'b64_json', isAwaited: true })
  if (!isRecord(answer) || !Array.isArray(answer['data'])) return answer
  const operation = order.type === 'edit' ? 'image_edit' : 'image_generation'
  return sendEventReply(reply, imageEvents(answer, body, operation), exchange)
}

interface OneImageRequest {
  readonly body: { readonly image?: ImageInput | readonly ImageInput[] | null | undefined }
  readonly files: readonly UploadedFile[]
}

function readOneImage({ body, files }: OneImageRequest): ClientFile {
  const [image] = readImages(body.image, files)
  if (image) return image
  const message = "Missing required parameter: 'image'."
  throw new AppError('missing_required_parameter', message, { param: 'image' })
}
