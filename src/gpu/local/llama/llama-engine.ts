import { writeSync } from 'node:fs'
import { parseEngineArguments } from './engine-arguments.ts'
import { loadModel } from './load-model.ts'
import { serveModel } from './serve-model.ts'

/**
 * Entry point of the engine that serves one GGUF model with llama.cpp on 127.0.0.1. The keeper starts it, logs its output and
 * stops it.
 */
const STDERR = 2
const STOP_MS_MAX = 5_000

// Writes synchronously, so that the last lines before a crash in the native loader are not lost.
const say = (line: string) => {
  writeSync(STDERR, `${line}\n`)
}

try {
  const settings = parseEngineArguments(process.argv.slice(2))
  const loaded = await loadModel(settings, say)
  const { llama, contextSize, threads, chatWrapper, context } = loaded
  const server = serveModel({ loaded, alias: settings.alias, say })
  server.listen(settings.port, '127.0.0.1', () =>
    say(
      `serving on ${llama.gpu === false ? 'the processor' : llama.gpu} with ${threads} threads, ${context.totalSequences} requests at once of ${contextSize} tokens, chat template ${chatWrapper.wrapperName}`,
    ),
  )
  server.on('error', (error) => {
    say(`cannot listen: ${error.message}`)
    process.exit(1)
  })
  process.on('SIGTERM', () => {
    setTimeout(() => process.exit(0), STOP_MS_MAX).unref()
    server.close(() => process.exit(0))
    server.closeIdleConnections()
  })
} catch (error) {
  say(`the model could not be loaded: ${error instanceof Error ? error.message : String(error)}`)
  process.exit(1)
}
