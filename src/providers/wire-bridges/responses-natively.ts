import { editJsonObject } from '../../kernel/json/edit-json-object.ts'
import { isRecord } from '../../kernel/is-record.ts'
import { stringifyJson } from '../../kernel/json/stringify-json.ts'
import type { NativeRequest } from '../native-wire.ts'
import type { InferenceCall, InferenceOperation } from '../provider.ts'
import type { ResponsesRequest } from '../../wires/openai-responses/responses-request.ts'
import { isSealedHere } from '../../wires/openai-responses/sealed-thoughts.ts'
import { isSpareSearch } from '../../wires/openai-responses/tool-names.ts'

/** Members that refer to data stored by the vendor. The gateway stores answers itself, separately for each account. */
const KEPT_ELSEWHERE = ['previous_response_id', 'conversation', 'background', 'prompt']

const SEALED_THOUGHTS = 'reasoning.encrypted_content'

/**
 * Serves OpenAI's Responses wire with a provider that speaks it. Forwards everything except what the vendor would store, bill
 * separately or refuse.
 */
export function responsesNatively(
  send: InferenceOperation<NativeRequest>,
  options: { readonly hasSearch: boolean },
): InferenceOperation<ResponsesRequest> {
  return (call) => {
    const edits = new Map<string, string | null>([['store', 'false']])
    for (const name of KEPT_ELSEWHERE) if (name in call.body) edits.set(name, null)
    const { tools, input, include, store } = call.body
    // To continue a stored answer, the gateway needs the model's reasoning, which the vendor returns only encrypted.
    if (store === true && call.canReason && include?.includes(SEALED_THOUGHTS) !== true)
      edits.set('include', stringifyJson([...(include ?? []), SEALED_THOUGHTS]))
    if (tools?.some((tool) => isSpareSearch(tool, tools)) && !options.hasSearch)
      edits.set('tools', stringifyJson(tools.filter((tool) => !isSpareSearch(tool, tools))))
    if (Array.isArray(input) && input.some(isForeignThought))
      edits.set('input', stringifyJson(input.filter((item) => !isForeignThought(item))))
    return send({ ...call, text: editJsonObject(call.text, edits) ?? serialise(call, edits) })
  }
}

/** Returns whether the vendor cannot use this reasoning item: it has no encrypted content, or the gateway sealed it itself. */
function isForeignThought(item: object): boolean {
  if (!isRecord(item) || item['type'] !== 'reasoning') return false
  const sealed = item['encrypted_content']
  return typeof sealed !== 'string' || sealed === '' || isSealedHere(sealed)
}

function serialise(
  { body }: InferenceCall<ResponsesRequest>,
  edits: ReadonlyMap<string, string | null>,
): string {
  const members = new Map<string, unknown>(Object.entries(body))
  for (const [name, value] of edits) {
    if (value === null) members.delete(name)
    else members.set(name, JSON.parse(value))
  }
  return stringifyJson(Object.fromEntries(members))
}
