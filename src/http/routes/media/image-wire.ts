import { Type, type Static } from 'typebox'
import { described } from '../../../wires/described.ts'
import { nullable } from '../../../wires/nullable.ts'
import { CostUsd } from '../../../wires/usual-members.ts'
import { ImageInput } from '../../parameters/client-image.ts'
import { TaskMembers } from '../../paid/run-generation.ts'

const PROMPT_CHARACTERS_MAX = 32_000
/** That are edited by one request. */
export const IMAGES_MAX = 16

const Model = Type.String({ minLength: 1, maxLength: 256, description: 'A model id from `GET /v1/models`.' })
const Prompt = Type.String({ minLength: 1, maxLength: PROMPT_CHARACTERS_MAX })

/** A picture of one pixel, for the examples. */
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const ImageMembers = {
  prompt: described(Prompt, 'The prompt.'),
  n: nullable(Type.Integer({ minimum: 1, maximum: 10, description: 'Number of images.' })),
  size: nullable(
    Type.String({ pattern: '^(auto|[1-9]\\d{1,4}x[1-9]\\d{1,4})$', description: '`<width>x<height>`.' }),
  ),
  aspect_ratio: nullable(
    Type.String({ pattern: '^[1-9]\\d{0,2}:[1-9]\\d{0,2}$', description: '`<width>:<height>`.' }),
  ),
  quality: nullable(Type.String({ minLength: 1, maxLength: 64 }), 'The quality, as the model names it.'),
  style: nullable(Type.String({ minLength: 1, maxLength: 256 }), 'The style, as the model names it.'),
  background: nullable(
    Type.Enum(['transparent', 'opaque', 'auto']),
    'Whether the background is transparent or opaque.',
  ),
  output_format: nullable(Type.Enum(['png', 'jpeg', 'webp']), 'The format of the file.'),
  response_format: nullable(
    Type.Enum(['url', 'b64_json'], {
      description:
        'Of an answer with images, made at once or waited for; tasks have addresses. Unless told: `b64_json` of the gpt-image models, else `url`.',
    }),
  ),
  seed: nullable(
    Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    'Asks for the same result for the same request, where the model can.',
  ),
  user: nullable(Type.String(), 'An id of your end user. It is passed on to the upstream.'),
  stream: nullable(
    Type.Boolean({ description: 'Sends each image as an event when it is made, in `b64_json`.' }),
  ),
  partial_images: nullable(
    Type.Integer({
      minimum: 0,
      maximum: 3,
      description: 'Of a stream. Accepted, but no partial images are sent, which would cost extra.',
    }),
  ),
  ...TaskMembers,
}

export const ImageGenerationRequest = Type.Object(
  { model: nullable(Model), ...ImageMembers },
  {
    title: 'ImageGenerationRequest',
    examples: [{ model: 'gpt-image-2', prompt: 'A lighthouse at dusk, oil on canvas', size: '1024x1024' }],
  },
)
export type ImageGenerationRequest = Static<typeof ImageGenerationRequest>

export const ImageEditRequest = Type.Object(
  {
    model: nullable(Model),
    image: Type.Optional(
      Type.Union([ImageInput, Type.Array(ImageInput, { minItems: 1, maxItems: IMAGES_MAX })], {
        description:
          'The picture: an `https` address, a data URI, base64, or `{"file_id": …}` of an uploaded file.',
      }),
    ),
    images: nullable(
      Type.Array(ImageInput, {
        minItems: 1,
        maxItems: IMAGES_MAX,
        description: 'The same as `image`, by the name that it has in JSON at OpenAI.',
      }),
    ),
    mask: nullable(ImageInput, 'A picture whose transparent parts say where to edit.'),
    ...ImageMembers,
  },
  {
    title: 'ImageEditRequest',
    examples: [{ model: 'gpt-image-2', prompt: 'Make it night', image: PIXEL }],
  },
)
export type ImageEditRequest = Static<typeof ImageEditRequest>

export const UpscaleRequest = Type.Object(
  {
    model: nullable(Model),
    image: Type.Optional(ImageInput),
    scale: nullable(Type.Enum([2, 4], { description: '2 unless told.' })),
    prompt: nullable(Type.String({ maxLength: PROMPT_CHARACTERS_MAX }), 'The prompt.'),
    response_format: ImageMembers.response_format,
    ...TaskMembers,
  },
  { title: 'UpscaleRequest', examples: [{ image: PIXEL, scale: 2 }] },
)
export type UpscaleRequest = Static<typeof UpscaleRequest>

export const BackgroundRemovalRequest = Type.Object(
  {
    model: nullable(Model),
    image: Type.Optional(ImageInput),
    output_format: nullable(Type.Enum(['png', 'webp'], { description: '`png` unless told.' })),
    response_format: ImageMembers.response_format,
    ...TaskMembers,
  },
  { title: 'BackgroundRemovalRequest', examples: [{ image: PIXEL }] },
)
export type BackgroundRemovalRequest = Static<typeof BackgroundRemovalRequest>

export const ImageAnswer = Type.Object(
  {
    created: Type.Integer({ description: 'Unix seconds.' }),
    data: Type.Array(
      Type.Object({
        url: Type.Optional(Type.String({ description: 'Signed; needs no key and expires.' })),
        b64_json: Type.Optional(Type.String({ description: 'The picture in base64.' })),
        revised_prompt: Type.Optional(Type.String({ description: 'The prompt as the model changed it.' })),
      }),
      { description: 'The pictures.' },
    ),
    usage: Type.Object(
      { images: Type.Integer({ description: 'How many pictures.' }), cost_usd: CostUsd },
      { description: 'What was used, and what it cost.' },
    ),
  },
  { title: 'ImageAnswer' },
)

/** Returns the members of a request that the schema does not name. They are passed to upstreams that speak the same wire. */
export function unnamedMembers(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !NAMED_MEMBERS.has(name)))
}

const NAMED_MEMBERS: ReadonlySet<string> = new Set([
  ...Object.keys(ImageMembers).filter((name) => name !== 'user'),
  'model',
  'image',
  'images',
  'mask',
  'stream',
])
