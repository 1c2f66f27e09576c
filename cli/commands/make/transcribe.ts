import { basename } from 'node:path'
import { readJson, readText } from '../../api/read-body.ts'
import { sendUpload } from '../../api/send-upload.ts'
import { clientCommand } from '../../client-command.ts'
import { openUpload } from '../../files/open-upload.ts'
import { printable } from '../../output/printable.ts'
import { firstReadyModel } from './make-media.ts'

interface TranscribeOptions {
  readonly model?: string
  readonly language?: string
  readonly format: string
}

export const transcribe = clientCommand<TranscribeOptions>({
  name: 'transcribe',
  summary: 'Transcribe a recording.',
  example: 'parkway transcribe --format srt talk.mp3 > talk.srt',
  define: (command) =>
    command
      .argument('<file>', 'the recording')
      .option('-m, --model <id>', 'the model; by default the first one that is ready')
      .option('--language <code>', 'the language that is spoken, such as de')
      .option('--format <name>', 'text, srt or vtt', 'text'),
  async act(context, options, path = '') {
    const { language, format } = options
    const recording = await openUpload(path)
    const gateway = context.connect()
    const form = new FormData()
    form.set('model', options.model ?? (await firstReadyModel(gateway, { category: 'stt' })))
    form.set('file', recording, basename(path))
    form.set('response_format', context.isJson ? 'json' : format)
    if (language !== undefined) form.set('language', language)
    const message = { method: 'POST', body: form }
    const response = await sendUpload(gateway, '/v1/audio/transcriptions', message, basename(path))
    if (context.isJson) return context.printJson(await readJson(response))
    context.output.text(printable((await readText(response)).trimEnd()))
  },
})
