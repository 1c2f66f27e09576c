import { AppError } from '../../../kernel/app-error.ts'
import { editJsonObject } from '../../../kernel/json/edit-json-object.ts'
import { foldName } from '../../../kernel/fold-name.ts'
import { BILLED_MEMBERS, isOrdinaryValue } from '../../../providers/requests/billed-members.ts'
import type { Provider } from '../../../providers/provider.ts'
import type { InferenceRequest } from '../inference-request.ts'

interface Filtered<Body, Served> {
  /** Without the members that must not reach an upstream. */
  readonly request: InferenceRequest<Body>
  /** The candidates that accept the remaining members; at least one. */
  readonly candidates: readonly Served[]
}

/**
 * Removes or refuses members that change the bill and have no known price. Most requests have only plain members, so the common
 * path is one lookup per member. `priced` are the members that the estimate of this operation includes.
 */
export function filterMembers<Body extends object, Served extends { readonly provider: Provider }>(
  request: InferenceRequest<Body>,
  candidates: readonly Served[],
  priced: ReadonlySet<string> = NONE,
): Filtered<Body, Served> {
  for (const name in request.body)
    if (!PLAIN_MEMBERS.has(name) && !priced.has(name)) return filterUnusual(request, candidates, priced)
  return { request, candidates }
}

const NONE: ReadonlySet<string> = new Set()

function filterUnusual<Body extends object, Served extends { readonly provider: Provider }>(
  request: InferenceRequest<Body>,
  candidates: readonly Served[],
  priced: ReadonlySet<string>,
): Filtered<Body, Served> {
  const dropped: string[] = []
  let accepting = candidates
  for (const [name, value] of Object.entries(request.body)) {
    if (PLAIN_MEMBERS.has(name) || priced.has(name)) continue
    const folded = foldName(name)
    const untaken = BILLED_MEMBERS.get(folded)
    // Some upstreams ignore the case of names, and would read another value than the one that was checked.
    const isOddlyWritten = folded !== name
    if (untaken !== undefined) {
      const takenBy = isOddlyWritten
        ? []
        : accepting.filter(({ provider }) => provider.takenMembers?.has(name))
      if (takenBy.length > 0) accepting = takenBy
      else if (untaken === 'dropped' || isOrdinaryValue(folded, value)) dropped.push(name)
      else throw untakenMember(name)
    } else if (isOddlyWritten && isCheckedElsewhere(folded, priced)) dropped.push(name)
  }
  return { request: dropped.length === 0 ? request : withoutMembers(request, dropped), candidates: accepting }
}

/** Whether another part of the gateway checks, changes or removes the member under its usual name. */
function isCheckedElsewhere(folded: string, priced: ReadonlySet<string>): boolean {
  return PLAIN_MEMBERS.has(folded) || priced.has(folded) || WIRE_MEMBERS.has(folded)
}

function untakenMember(name: string): AppError {
  const message = `'${name}' changes what the provider does or bills, and is not taken here.`
  return new AppError('unsupported_parameter', message, { param: name })
}

function withoutMembers<Body extends object>(
  request: InferenceRequest<Body>,
  names: readonly string[],
): InferenceRequest<Body> {
  const body = { ...request.body }
  for (const name of names) Reflect.deleteProperty(body, name)
  const text = editJsonObject(request.text, new Map(names.map((name) => [name, null])))
  return { ...request, body, text: text ?? JSON.stringify(body) }
}

/** Members that the route schemas check, and common members that cost only the reported tokens. */
const PLAIN_MEMBERS: ReadonlySet<string> = new Set(
  (
    'model messages temperature top_p max_tokens max_completion_tokens stream stream_options stop n tools ' +
    'tool_choice parallel_tool_calls response_format seed logprobs top_logprobs logit_bias presence_penalty ' +
    'frequency_penalty reasoning_effort think user functions function_call verbosity top_k ' +
    'prompt suffix echo input dimensions encoding_format input_type task_type query documents top_n ' +
    'return_documents max_chunks_per_doc'
  ).split(' '),
)

/** Members of single wires that the gateway reads, replaces or removes. */
const WIRE_MEMBERS: ReadonlySet<string> = new Set(
  (
    'instructions reasoning text include previous_response_id conversation truncation prompt_cache_key system ' +
    'thinking thinking_config output_config stop_sequences thread cache_control context_management betas'
  ).split(' '),
)
