import type { MediaCall, MediaOutput, MediaStart, OutputFile } from '../../media/media-operation.ts'
import type { Fault } from '../request/directives.ts'
import { damagePayload, type FaultContext } from '../faults/inject-fault.ts'
import { beginCall, type SandboxParts } from './begin-call.ts'

interface Maker<Work> {
  /** Returns the text of the request, which may contain directives. */
  readPrompt(work: Work): string
  make(work: Work, prompt: string, call: MediaCall<Work>): Promise<MediaOutput>
}

/** Answers with work that is complete when its call returns. */
export function answerAtOnce<Work>(
  parts: SandboxParts,
  maker: Maker<Work>,
): (call: MediaCall<Work>) => Promise<MediaStart> {
  return async (call) => {
    const { text, fault, faultContext } = await beginCall(parts, maker.readPrompt(call.work), call)
    const output = await maker.make(call.work, text, call)
    call.cancellation.throwIfCancelled()
    return { kind: 'done', output: await damageOutput(fault, output, faultContext) }
  }
}

export async function damageOutput(
  fault: Fault | null,
  output: MediaOutput,
  context: FaultContext,
): Promise<MediaOutput> {
  if (fault === null) return output
  const files = await Promise.all(
    output.files.map(async (file): Promise<OutputFile> => {
      if (file.kind === 'url') return file
      return { ...file, bytes: await damagePayload(fault, Buffer.from(file.bytes), context) }
    }),
  )
  return { ...output, files }
}
