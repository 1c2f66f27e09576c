import { clientCommand } from '../../client-command.ts'
import { parseWhole } from '../../input/parse-number.ts'
import { chooseMediaModel } from '../../media/choose-media-model.ts'
import { makeMedia, withMakeOptions, type MakeOptions } from './make-media.ts'

interface ImageOptions extends MakeOptions {
  readonly size?: string
  readonly quality?: string
  readonly count?: string
}

export const image = clientCommand<ImageOptions>({
  name: 'image',
  summary: 'Make images from a text.',
  example: 'parkway image -o lighthouse.png "A lighthouse at dusk"',
  define: (command) =>
    withMakeOptions(command.argument('<prompt...>', 'what to show'))
      .option('--size <size>', 'such as 1024x1536')
      .option('--quality <name>', 'low, medium or high, where the model knows it')
      .option('-n, --count <number>', 'the number of images'),
  async act(context, options, ...words) {
    const { size, quality } = options
    const count = options.count === undefined ? undefined : parseWhole('--count', options.count)
    const { id: model, costUsd } = await chooseMediaModel(
      context.connect(),
      { category: 'image', capability: 'image_generation' },
      { model: options.model, count, traits: { size, quality } },
    )
    const body = {
      model,
      prompt: words.join(' '),
      ...(size === undefined ? {} : { size }),
      ...(quality === undefined ? {} : { quality }),
      ...(count === undefined ? {} : { n: count }),
    }
    await makeMedia(context, { path: '/v1/images/generations', body, costUsd }, options)
  },
})
