import { clientCommand } from '../../client-command.ts'
import { parseDecimal } from '../../input/parse-number.ts'
import { readImage } from '../../input/read-attachment.ts'
import { chooseMediaModel } from '../../media/choose-media-model.ts'
import { makeMedia, withMakeOptions, type MakeOptions } from './make-media.ts'

interface VideoOptions extends MakeOptions {
  readonly image?: string
  readonly duration?: string
  readonly ratio?: string
  readonly resolution?: string
  readonly audio?: boolean
}

export const video = clientCommand<VideoOptions>({
  name: 'video',
  summary: 'Make a video from a text, and optionally an image.',
  example: 'parkway video --duration 4 -o waves.mp4 "Waves from above"',
  define: (command) =>
    withMakeOptions(command.argument('<prompt...>', 'what happens'))
      .option('-i, --image <file or address>', 'the first picture')
      .option('--duration <seconds>', 'its length')
      .option('--ratio <ratio>', 'such as 16:9')
      .option('--resolution <name>', 'such as 720p or 1080p')
      .option('--audio', 'with sound, where the model has the choice')
      .option('--no-audio', 'without sound'),
  async act(context, options, ...words) {
    const { image, ratio, resolution, audio } = options
    const duration = options.duration === undefined ? undefined : parseDecimal('--duration', options.duration)
    const capability = image === undefined ? 'text_to_video' : 'image_to_video'
    const { id: model, costUsd } = await chooseMediaModel(
      context.connect(),
      { category: 'video', capability },
      {
        model: options.model,
        seconds: duration,
        inputImages: image === undefined ? 0 : 1,
        traits: { resolution, audio: audio === undefined ? undefined : audio ? 'on' : 'off' },
      },
    )
    const body = {
      model,
      prompt: words.join(' '),
      ...(image === undefined ? {} : { image_url: readImage(image) }),
      ...(duration === undefined ? {} : { duration }),
      ...(ratio === undefined ? {} : { aspect_ratio: ratio }),
      ...(resolution === undefined ? {} : { resolution }),
      ...(audio === undefined ? {} : { audio }),
    }
    await makeMedia(context, { path: '/v1/videos/generations', body, costUsd }, options)
  },
})
