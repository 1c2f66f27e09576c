import { clientCommand } from '../../client-command.ts'
import { parseDecimal } from '../../input/parse-number.ts'
import { chooseMediaModel } from '../../media/choose-media-model.ts'
import { makeMedia, withMakeOptions, type MakeOptions } from './make-media.ts'

interface MusicOptions extends MakeOptions {
  readonly duration?: string
}

export const music = clientCommand<MusicOptions>({
  name: 'music',
  summary: 'Make music from a text.',
  example: 'parkway music --duration 20 -o rain.mp3 "A slow piano piece about rain"',
  define: (command) =>
    withMakeOptions(command.argument('<prompt...>', 'how it sounds')).option(
      '--duration <seconds>',
      'its length',
    ),
  async act(context, options, ...words) {
    const duration = options.duration === undefined ? undefined : parseDecimal('--duration', options.duration)
    const { id: model, costUsd } = await chooseMediaModel(
      context.connect(),
      { category: 'music' },
      { model: options.model, seconds: duration },
    )
    const body = {
      model,
      prompt: words.join(' '),
      ...(duration === undefined ? {} : { duration }),
    }
    await makeMedia(context, { path: '/v1/audio/music', body, costUsd }, options)
  },
})
