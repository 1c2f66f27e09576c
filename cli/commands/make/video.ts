import { clientCommand } from '../../client-command.ts'
import { parseDecimal } from '../../input/parse-number.ts'
import { readImage } from '../../input/read-attachment.ts'
import { firstReadyModel, makeMedia, withMakeOptions, type MakeOptions } from './make-media.ts'

interface VideoOptions extends MakeOptions {
  readonly image?: string
  readonly duration?: string
  readonly ratio?: string
}

export const video = clientCommand<VideoOptions>({
  name: 'video',
  summary: 'Make a video from a text, and an image if you like.',
  example: 'parkway video --duration 4 -o waves.mp4 "Waves from above"',
  define: (command) =>
    withMakeOptions(command.argument('<prompt...>', 'what happens'))
      .option('-i, --image <file or address>', 'the first picture')
      .option('--duration <seconds>', 'its length')
      .option('--ratio <ratio>', 'such as 16:9'),
  async act(context, options, ...words) {
    const { image, ratio } = options
    const duration = options.duration === undefined ? undefined : parseDecimal('--duration', options.duration)
    const model = options.model ?? (await firstReadyModel(context.connect(), { category: 'video' }))
    const body = {
      model,
      prompt: words.join(' '),
      ...(image === undefined ? {} : { image_url: readImage(image) }),
      ...(duration === undefined ? {} : { duration }),
      ...(ratio === undefined ? {} : { aspect_ratio: ratio }),
    }
    await makeMedia(context, { path: '/v1/videos/generations', body }, options)
  },
})
