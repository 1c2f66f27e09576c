import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import { UntranslatableRequest } from '../../../ai-sdk/request/untranslatable-request.ts'

/** A message of Converse. https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html */
export interface ConverseMessage {
  readonly role: 'user' | 'assistant'
  readonly content: object[]
}

/** Writes the turns of a conversation. Turns of one role that follow each other become one, because Converse wants them to alternate. */
export function writeMessages(
  prompt: readonly LanguageModelV4Message[],
  hasCachePoints: boolean,
): ConverseMessage[] {
  const messages: ConverseMessage[] = []
  const documents = { count: 0 }
  for (const turn of prompt) {
    if (turn.role === 'system') continue
    const role = turn.role === 'assistant' ? 'assistant' : 'user'
    const content = turn.content.flatMap((part) => [
      ...writePart(part, documents),
      ...(hasCachePoints ? writeCachePoint(part) : []),
    ])
    const last = messages.at(-1)
    if (last?.role === role) last.content.push(...content)
    else if (content.length > 0) messages.push({ role, content })
  }
  return messages
}

/**
 * Keeps everything before it for some minutes, if the client marked it.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
 */
export function writeCachePoint({
  providerOptions,
}: {
  readonly providerOptions?: SharedV4ProviderOptions | undefined
}): object[] {
  const cachePoint = providerOptions?.['bedrock']?.['cachePoint']
  return cachePoint === undefined ? [] : [{ cachePoint }]
}

type Part = Exclude<LanguageModelV4Message, { role: 'system' }>['content'][number]

/** How many documents there were. Each needs a name of its own, and those of files may have characters that Bedrock refuses. */
interface Documents {
  count: number
}

/** Earlier reasoning is left out: only the model that signed it takes it, and its signature is not kept. */
function writePart(part: Part, documents: Documents): object[] {
  switch (part.type) {
    case 'text':
      return [{ text: part.text }]
    case 'file':
      return [writeFile(part, documents)]
    case 'tool-call':
      return [{ toolUse: { toolUseId: part.toolCallId, name: part.toolName, input: part.input } }]
    case 'tool-result':
      return [{ toolResult: { toolUseId: part.toolCallId, content: writeOutput(part.output, documents) } }]
    case 'reasoning':
    case 'reasoning-file':
    case 'custom':
    case 'tool-approval-response':
      return []
  }
}

type Output = Extract<Part, { type: 'tool-result' }>['output']

function writeOutput(output: Output, documents: Documents): object[] {
  if (output.type === 'text') return [{ text: output.value }]
  if (output.type !== 'content') return []
  return output.value.flatMap((part): object[] => {
    if (part.type === 'text') return [{ text: part.text }]
    return part.type === 'file' ? [writeFile(part, documents)] : []
  })
}

function writeFile(
  { data, mediaType }: Pick<LanguageModelV4FilePart, 'data' | 'mediaType'>,
  documents: Documents,
) {
  const found = FORMATS.get(mediaType)
  if (found === undefined)
    throw new UntranslatableRequest('messages', `Bedrock takes no files of the type '${mediaType}'.`)
  if (data.type !== 'data')
    throw new UntranslatableRequest(
      'messages',
      'Bedrock fetches no files. Send the file itself, as a data URI.',
    )
  const [kind, format] = found
  const bytes = typeof data.data === 'string' ? data.data : Buffer.from(data.data).toString('base64')
  const block = { format, source: { bytes } }
  if (kind !== 'document') return { [kind]: block }
  documents.count += 1
  return { document: { ...block, name: `document-${documents.count}` } }
}

type Kind = 'image' | 'document' | 'video'

/** The formats of `ImageBlock`, `DocumentBlock` and `VideoBlock`. */
const FORMATS: ReadonlyMap<string, readonly [Kind, format: string]> = new Map([
  ['image/png', ['image', 'png']],
  ['image/jpeg', ['image', 'jpeg']],
  ['image/jpg', ['image', 'jpeg']],
  ['image/gif', ['image', 'gif']],
  ['image/webp', ['image', 'webp']],
  ['application/pdf', ['document', 'pdf']],
  ['text/csv', ['document', 'csv']],
  ['application/msword', ['document', 'doc']],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', ['document', 'docx']],
  ['application/vnd.ms-excel', ['document', 'xls']],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', ['document', 'xlsx']],
  ['text/html', ['document', 'html']],
  ['text/plain', ['document', 'txt']],
  ['text/markdown', ['document', 'md']],
  ['video/mp4', ['video', 'mp4']],
  ['video/quicktime', ['video', 'mov']],
  ['video/x-matroska', ['video', 'mkv']],
  ['video/webm', ['video', 'webm']],
  ['video/x-flv', ['video', 'flv']],
  ['video/mpeg', ['video', 'mpeg']],
  ['video/x-ms-wmv', ['video', 'wmv']],
  ['video/3gpp', ['video', 'three_gp']],
])
