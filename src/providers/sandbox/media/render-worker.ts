import { parentPort } from 'node:worker_threads'
import { renderMusic, type MusicRendering } from './audio/render-music.ts'
import { renderVideo, type VideoRendering } from './video/render-video.ts'

export type Rendering = MusicRendering | VideoRendering
export type RenderingAnswer =
  | { readonly kind: 'done'; readonly bytes: Uint8Array }
  | { readonly kind: 'failed'; readonly message: string }

/** The rendering thread: one rendering at a time, one answer for each. */
parentPort?.on('message', (rendering: Rendering) => {
  void answer(rendering).then((message) => parentPort?.postMessage(message, []))
})

async function answer(rendering: Rendering): Promise<RenderingAnswer> {
  try {
    const bytes = rendering.kind === 'music' ? await renderMusic(rendering) : await renderVideo(rendering)
    return { kind: 'done', bytes }
  } catch (error) {
    return { kind: 'failed', message: String(error) }
  }
}
