import { createRequire } from 'node:module'
import type { H264MP4Encoder } from 'h264-mp4-encoder'
import { layOver, toAlphaPlanes, toVideoPlanes, zoomInto, type VideoPlanes } from './video-planes.ts'

export interface VideoRendering {
  readonly kind: 'video'
  readonly width: number
  readonly height: number
  readonly frameRate: number
  readonly frameCount: number
  /** Red, green, blue and alpha of the scene, in the size of the video. */
  readonly backdrop: Uint8Array
  /** Drawn over the scene from the second frame on. */
  readonly caption: Uint8Array
  /** Start of the light's path, 0 to 1. */
  readonly phase: number
}

const require = createRequire(import.meta.url)
const QUANTIZATION = 28
const FASTEST = 10
const ZOOM = 0.18
const FADE_SECONDS = 0.5

/**
 * Renders a complete MP4 in which the camera zooms into the backdrop, a light moves, and a bar shows the time. The first frame is
 * the backdrop itself. It takes a second, so it must run in a separate thread.
 */
export async function renderVideo(rendering: VideoRendering): Promise<Uint8Array> {
  const { width, height, frameRate, frameCount } = rendering
  const { createH264MP4Encoder } = require('h264-mp4-encoder') as {
    createH264MP4Encoder: () => Promise<H264MP4Encoder>
  }
  const encoder = await createH264MP4Encoder()
  try {
    Object.assign(encoder, {
      width,
      height,
      frameRate,
      speed: FASTEST,
      quantizationParameter: QUANTIZATION,
      groupOfPictures: frameRate * 2,
    })
    encoder.initialize()
    const film = loadFilm(rendering)
    for (let index = 0; index < frameCount; index += 1) {
      paintFrame(film, index)
      encoder.addFrameYuv(film.frame)
    }
    encoder.finalize()
    const bytes = Uint8Array.from(encoder.FS.readFile(encoder.outputFilename))
    encoder.FS.unlink(encoder.outputFilename)
    forgetTimes(Buffer.from(bytes.buffer))
    return bytes
  } finally {
    encoder.delete()
  }
}

const CONTAINERS = new Set(['moov', 'trak', 'mdia'])
const DATED = new Set(['mvhd', 'tkhd', 'mdhd'])

/** Clears the timestamps of the encoder, so that the same work gives the same bytes. */
function forgetTimes(boxes: Buffer): void {
  for (let offset = 0; offset + 8 <= boxes.length; offset += Math.max(8, boxes.readUInt32BE(offset))) {
    const name = boxes.toString('latin1', offset + 4, offset + 8)
    if (CONTAINERS.has(name)) forgetTimes(boxes.subarray(offset + 8, offset + boxes.readUInt32BE(offset)))
    if (DATED.has(name)) boxes.fill(0, offset + 12, offset + 20)
  }
}

interface Film {
  readonly rendering: VideoRendering
  readonly backdrop: VideoPlanes
  readonly caption: VideoPlanes
  readonly captionAlpha: VideoPlanes
  /** The three planes of a frame, one after the other. */
  readonly frame: Uint8Array
  readonly planes: readonly [Uint8Array, Uint8Array, Uint8Array]
}

function loadFilm(rendering: VideoRendering): Film {
  const { width, height } = rendering
  const size = width * height
  const frame = new Uint8Array(size * 1.5)
  return {
    rendering,
    backdrop: toVideoPlanes({ width, height, pixels: rendering.backdrop }),
    caption: toVideoPlanes({ width, height, pixels: rendering.caption }),
    captionAlpha: toAlphaPlanes({ width, height, pixels: rendering.caption }),
    frame,
    planes: [frame.subarray(0, size), frame.subarray(size, size * 1.25), frame.subarray(size * 1.25)],
  }
}

function paintFrame({ rendering, backdrop, caption, captionAlpha, planes }: Film, index: number): void {
  const progress = index / Math.max(1, rendering.frameCount - 1)
  const fade = Math.min(1, index / (FADE_SECONDS * rendering.frameRate))
  for (const [number, plane] of planes.entries()) {
    const [below, words, alpha] = [
      backdrop.planes[number],
      caption.planes[number],
      captionAlpha.planes[number],
    ]
    if (below === undefined || words === undefined || alpha === undefined) continue
    zoomInto(plane, below, 1 + ZOOM * progress)
    if (index > 0) layOver(plane, words.values, alpha.values, fade)
  }
  if (index === 0) return
  addLight(planes[0], rendering, progress)
  drawBar(planes[0], rendering, progress)
}

const WHITE = 235

function addLight(brightness: Uint8Array, { width, height, phase }: VideoRendering, progress: number): void {
  const turn = 2 * Math.PI * (phase + progress)
  const centerX = width * (0.5 + 0.36 * Math.cos(turn))
  const centerY = height * (0.36 + 0.2 * Math.sin(2 * turn))
  const radius = Math.min(width, height) / 7
  const fromX = Math.max(0, Math.floor(centerX - radius))
  for (let y = Math.max(0, Math.floor(centerY - radius)); y < Math.min(height, centerY + radius); y += 1) {
    for (let x = fromX; x < Math.min(width, centerX + radius); x += 1) {
      const nearness = 1 - Math.hypot(x - centerX, y - centerY) / radius
      const below = brightness[y * width + x] ?? 0
      if (nearness > 0) brightness[y * width + x] = below + (WHITE - below) * Math.min(0.85, nearness * 1.4)
    }
  }
}

function drawBar(brightness: Uint8Array, { width, height }: VideoRendering, progress: number): void {
  const thickness = Math.max(2, Math.round(height / 90))
  for (let y = height - thickness; y < height; y += 1)
    brightness.fill(WHITE, y * width, y * width + Math.floor(width * progress))
}
