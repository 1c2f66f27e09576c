import { readText } from '../../api/read-body.ts'
import { sendUpload } from '../../api/send-upload.ts'
import { clientCommand, type CommandContext } from '../../client-command.ts'
import { collect } from '../../input/collect.ts'
import { parseModelInputs } from '../../input/parse-model-inputs.ts'
import { askBeforeReplacing } from '../../files/ask-before-replacing.ts'
import { toFileName } from '../../files/name-file.ts'
import { saveResponseBody } from '../../files/save-response-body.ts'
import { makeMedia, withMakeOptions, type MakeOptions } from '../make/make-media.ts'

interface RunOptions extends MakeOptions {
  readonly input?: string[]
}

/** Routes that make files as tasks. */
const MEDIA_ROUTES = /^\/v1\/(?:images|videos)\/|^\/v1\/audio\/music$/

export const run = clientCommand<RunOptions>({
  name: 'run',
  summary: 'Call any model at the route that serves it. Files are saved, as with the other commands.',
  example: `parkway run gpt-image-2 -i prompt="A lighthouse" -i n:=2 -o lighthouse.png`,
  define: (command) =>
    withMakeOptions(command.argument('<model>', 'its id'), { hasModel: false }).option(
      '-i, --input <key=value>',
      'a member of the request: key=text, key=@file, or key:=JSON for numbers, lists and objects',
      collect,
    ),
  async act(context, options, id = '') {
    const gateway = context.connect()
    const inputs = parseModelInputs(options.input ?? [])
    const path = { id }
    const { endpoint } = await gateway.call((routes) => routes.GET('/v1/models/{id}', { params: { path } }))
    const body = { model: id, ...toRequest(endpoint, inputs) }
    if (MEDIA_ROUTES.test(endpoint)) return makeMedia(context, { path: endpoint, body }, options)
    await callAtOnce(context, { endpoint, body }, options)
  },
})

/** A chat model also accepts `prompt` and `system`, which are easier to type than messages as JSON. */
function toRequest(endpoint: string, inputs: Record<string, unknown>): Record<string, unknown> {
  const { prompt, system, ...others } = inputs
  if (endpoint !== '/v1/chat/completions' || others.messages !== undefined || typeof prompt !== 'string')
    return inputs
  const messages = [
    ...(typeof system === 'string' ? [{ role: 'system', content: system }] : []),
    { role: 'user', content: prompt },
  ]
  return { ...others, messages }
}

async function callAtOnce(
  context: CommandContext,
  { endpoint, body }: { endpoint: string; body: object },
  { output: path, force }: RunOptions,
): Promise<void> {
  if (path !== undefined) await askBeforeReplacing(path, { isForced: force === true })
  const response = await sendUpload(context.connect(), endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const type = response.headers.get('content-type') ?? ''
  if (!type.startsWith('application/json') && !type.startsWith('text/')) {
    const saved = path ?? toFileName(`result.${type.split(/[/;]/)[1] ?? 'bin'}`)
    if (path === undefined) await askBeforeReplacing(saved, { isForced: force === true })
    await saveResponseBody(response, saved)
    return context.isJson ? context.printJson({ path: saved }) : context.output.line(saved)
  }
  const text = await readText(response)
  if (context.isJson && type.startsWith('application/json')) return context.printJson(JSON.parse(text))
  const shown = type.startsWith('application/json') ? describeAnswer(JSON.parse(text)) : text
  context.output.copy(`${shown}\n`)
}

interface TextAnswer {
  readonly choices?: readonly { readonly message?: { readonly content?: unknown } }[]
  readonly text?: unknown
}

/** The text of a chat or a transcript; any other answer as JSON. */
function describeAnswer(answer: TextAnswer): string {
  const text = answer.choices?.[0]?.message?.content ?? answer.text
  return typeof text === 'string' ? text : JSON.stringify(answer, null, 2)
}
