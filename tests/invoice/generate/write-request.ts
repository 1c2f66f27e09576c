import type { Case, OptionChoice, WireName } from '../case.ts'
import type { WrittenRequest } from '../ends/send-request.ts'
import type { HostedFiles } from '../files/hosted-files.ts'
import { markOf } from '../vendors/planned-work.ts'
import { encodeText } from '../vendors/tokens.ts'
import { carryFiles, toBlock, toChatPart, toInputPart, type CarriedFile } from './write-parts.ts'
import { writeItems, writeMessageTools, writeTools } from './write-tools.ts'

/** Writes the request of a case as a client would. */
export function writeRequest(made: Case, files: HostedFiles): WrittenRequest {
  const carried = carryFiles(made, files)
  const body = WRITERS[made.wire](made, carried)
  return { path: PATHS[made.wire], text: writeText(body, made.options) }
}

const PATHS: Readonly<Record<WireName, string>> = {
  chat: '/v1/chat/completions',
  completions: '/v1/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
  background: '/v1/responses',
  run: '/v1/compare/runs',
  turn: '/v1/compare/conversations',
  embeddings: '/v1/embeddings',
  edit: '/v1/images/edits',
}

type Writer = (made: Case, carried: readonly CarriedFile[]) => object

const WRITERS: Readonly<Record<WireName, Writer>> = {
  chat: writeChat,
  completions: ({ model, isStream, outputLimit, ...made }) => ({
    model,
    stream: isStream,
    prompt: made.words % 3 === 0 ? encodeText(promptOf(made)) : promptOf(made),
    ...(outputLimit === null ? {} : { max_tokens: outputLimit }),
  }),
  messages: writeMessages,
  responses: writeResponse,
  background: (made, carried) => ({ ...writeResponse(made, carried), background: true }),
  run: (made) => ({
    prompts: [promptOf(made)],
    lanes: [made.model, 'gpt-4o-mini'].map((model) => ({
      model,
      ...(made.outputLimit === null ? {} : { max_tokens: made.outputLimit }),
    })),
  }),
  turn: (made, carried) => ({
    content:
      carried.length === 0
        ? promptOf(made)
        : [{ type: 'text', text: promptOf(made) }, ...carried.map(toChatPart)],
  }),
  embeddings: (made) => ({
    model: made.model,
    input: made.words % 3 === 0 ? encodeText(promptOf(made)) : [promptOf(made), 'one more'],
  }),
  edit: (made, carried) => ({
    model: made.model,
    prompt: promptOf(made),
    image: carried.map(({ url }) => url),
  }),
}

/** A prompt with the mark of its case. */
function promptOf({ number, words }: Pick<Case, 'number' | 'words'>): string {
  return `${markOf(number)} ${'word '.repeat(words)}`
}

const CALL = { id: 'call_1', name: 'look', arguments: '{}' }

function writeChat(made: Case, carried: readonly CarriedFile[]): object {
  const inUser = carried.filter(({ part }) => part.place === 'user').map(toChatPart)
  const inResult = carried.filter(({ part }) => part.place === 'tool result').map(toChatPart)
  const { id, name, arguments: given } = CALL
  return {
    model: made.model,
    stream: made.isStream,
    messages: [
      {
        role: 'user',
        content: inUser.length === 0 ? promptOf(made) : [{ type: 'text', text: promptOf(made) }, ...inUser],
      },
      ...(inResult.length === 0
        ? []
        : [
            {
              role: 'assistant',
              content: null,
              tool_calls: [{ id, type: 'function', function: { name, arguments: given } }],
            },
            { role: 'tool', tool_call_id: id, content: [{ type: 'text', text: 'found' }, ...inResult] },
          ]),
    ],
    ...writeTools(made, inResult.length > 0),
    ...(made.outputLimit === null ? {} : { max_tokens: made.outputLimit }),
  }
}

function writeMessages(made: Case, carried: readonly CarriedFile[]): object {
  const inUser = carried.filter(({ part }) => part.place === 'user').map(toBlock)
  const inResult = carried.filter(({ part }) => part.place === 'tool result').map(toBlock)
  const { id, name } = CALL
  const limit = made.outputLimit ?? 4_096
  // A mark of the cache stands on every third prompt, and half of them are kept for an hour.
  const mark =
    made.words % 3 === 0
      ? { cache_control: { type: 'ephemeral', ...(made.words % 2 === 0 ? { ttl: '1h' } : {}) } }
      : {}
  return {
    model: made.model,
    max_tokens: limit,
    stream: made.isStream,
    ...(made.isThinkingAsked && limit > 1_024 ? { thinking: { type: 'enabled', budget_tokens: 1_024 } } : {}),
    messages: [
      { role: 'user', content: [{ type: 'text', text: promptOf(made), ...mark }, ...inUser] },
      ...(inResult.length === 0
        ? []
        : [
            { role: 'assistant', content: [{ type: 'tool_use', id, name, input: {} }] },
            { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: inResult }] },
          ]),
    ],
    ...writeMessageTools(made, inResult.length > 0),
  }
}

function writeResponse(made: Case, carried: readonly CarriedFile[]): object {
  const inUser = carried.filter(({ part }) => part.place === 'user').map(toInputPart)
  const inResult = carried.filter(({ part }) => part.place === 'tool result').map(toInputPart)
  const { id, name, arguments: given } = CALL
  const { tools, items } = writeItems(made)
  return {
    model: made.model,
    stream: made.isStream,
    ...(made.wire === 'background' ? {} : { store: false }),
    input: [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: promptOf(made) }, ...inUser] },
      ...(inResult.length === 0
        ? []
        : [
            { type: 'function_call', call_id: id, name, arguments: given },
            { type: 'function_call_output', call_id: id, output: inResult },
          ]),
      ...items,
    ],
    ...(tools.length === 0 ? {} : { tools }),
    ...(made.outputLimit === null ? {} : { max_output_tokens: made.outputLimit }),
  }
}

/** Writes members into the text, also where the body has them already. */
function writeText(body: object, options: readonly OptionChoice[]): string {
  let text = JSON.stringify(body)
  for (const { name, value, at } of options) {
    const member = `${JSON.stringify(name)}:${JSON.stringify(value)}`
    if (at === 'first') text = `{${member},${text.slice(1)}`
    else if (at === 'last') text = `${text.slice(0, -1)},${member}}`
    else if (at === 'first of a tool') text = text.replace('"tools":[{', `"tools":[{${member},`)
    else
      text = text
        .replace('{"role":', `{${member},"role":`)
        .replace('{"type":"message",', `{"type":"message",${member},`)
  }
  return text
}
