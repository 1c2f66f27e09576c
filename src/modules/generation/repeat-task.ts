import { AppError } from '../../kernel/app-error.ts'
import type { Place } from '../../storage/place.ts'
import type { Media } from '../media/media.ts'
import type { Tasks } from '../tasks/tasks.ts'
import type { ClientFile, GenerationRequest } from './generation-request.ts'
import { replaceFiles } from './input-files.ts'
import { readStoredWork, type FileReference } from './stored-work.ts'

/** The parts of a request that a task was created with. */
export type RepeatedRequest = Pick<
  GenerationRequest,
  'type' | 'model' | 'work' | 'responseFormat' | 'webhookUrl' | 'metadata'
>

interface RepeatOptions {
  readonly tasks: Pick<Tasks, 'readOrder'>
  readonly media: Pick<Media, 'read'>
}

/** Reads what a task was created with, for another task with the same parameters at the price of today. */
export async function repeatTask(
  { tasks, media }: RepeatOptions,
  place: Place,
  taskId: string,
): Promise<RepeatedRequest> {
  const { type, requestedModel, work, webhookUrl, metadata } = await tasks.readOrder(place, taskId)
  if (type === 'response' || type === 'stt')
    throw new AppError('conflict', `A task of the type ${type} is not repeated here. Send its request again.`)
  if (work === null)
    throw new AppError('conflict', 'The parameters of this task have expired with its result.')
  const toClientFile = async ({ mediaId }: FileReference): Promise<ClientFile> => ({
    kind: 'stream',
    param: 'image',
    open: async function* open() {
      yield (await media.read(place, mediaId)).bytes
    },
  })
  return {
    type,
    model: requestedModel,
    work: await replaceFiles(readStoredWork(work).work, toClientFile),
    responseFormat: 'url',
    webhookUrl,
    metadata,
  }
}
