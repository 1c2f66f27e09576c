import { refuseMembers } from '../../http/bodies/refuse-members.ts'
import { compileCheck } from '../../http/bodies/validate.ts'
import { readEdit, readGeneration, type ImageOrder } from '../../http/routes/media/image-order.ts'
import { ImageEditRequest, ImageGenerationRequest } from '../../http/routes/media/image-wire.ts'
import type { BatchEndpoint } from '../../modules/batches/batches.ts'
import type { Generation } from '../../modules/generation/generation.ts'
import type { AskedMembers } from '../../modules/inference/inference.ts'
import { openAiWire } from '../../wires/openai-chat/openai-wire.ts'
import { createBatchEndpoint, type EndpointCalls } from './batch-endpoint.ts'

/** Lines of batches that make or edit images. They are asked one by one, also where a vendor takes others in batches. */
export function imageEndpoints(
  calls: EndpointCalls,
  generation: Pick<Generation, 'generate' | 'quote'>,
): BatchEndpoint[] {
  const create = <Body extends AskedMembers>({ path, schema, operation, read }: ImageEndpoint<Body>) => {
    const check: (body: unknown) => asserts body is Body = compileCheck(schema)
    const readOrder = (body: unknown): ImageOrder => {
      check(body)
      refuseMembers(body, NO_TASK)
      return read(body)
    }
    return createBatchEndpoint<Body>(calls, {
      path,
      operation,
      category: 'image',
      isOffered: ({ image }) => image !== undefined,
      schema,
      wire: openAiWire,
      isHanded: false,
      own: {
        quote: (caller, body) => generation.quote({ ...readOrder(body), caller }),
        answerBytesUsual: ANSWER_BYTES_USUAL,
      },
      start: async ({ caller, body, requestId, record, cancellation, batchWay, isMadeAnew }, baseUrl) => {
        const result = await generation.generate({
          ...readOrder(body),
          caller,
          requestId,
          record,
          cancellation,
          baseUrl,
          preference: AT_ONCE,
          webhookUrl: null,
          metadata: null,
          line: { batchWay, ...(isMadeAnew && { isMadeAnew }) },
        })
        if (result.kind === 'task') throw new Error('a line of a batch became a task')
        return { kind: 'complete', payload: JSON.stringify(result.answer) }
      },
    })
  }
  return [
    create<ImageGenerationRequest>({
      path: '/v1/images/generations',
      operation: 'image',
      schema: ImageGenerationRequest,
      read: readGeneration,
    }),
    create<ImageEditRequest>({
      path: '/v1/images/edits',
      operation: 'edit',
      schema: ImageEditRequest,
      read: (body) => readEdit(body, []),
    }),
  ]
}

interface ImageEndpoint<Body> {
  readonly path: string
  readonly operation: 'image' | 'edit'
  readonly schema: typeof ImageGenerationRequest | typeof ImageEditRequest
  readonly read: (body: Body) => ImageOrder
}

const NO_TASK = { webhook_url: { hint: 'A line is answered in the output of its batch and makes no task.' } }
const AT_ONCE = { isAsyncWanted: false, waitSeconds: null }
/** Of one image. It is in memory also if its answer is an address. */
const ANSWER_BYTES_USUAL = 1024 * 1024
