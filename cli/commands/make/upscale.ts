import { clientCommand } from '../../client-command.ts'
import { parseDecimal } from '../../input/parse-number.ts'
import { readImage } from '../../input/read-attachment.ts'
import { makeMedia, withMakeOptions, type MakeOptions } from './make-media.ts'

interface UpscaleOptions extends MakeOptions {
  readonly scale?: string
}

export const upscale = clientCommand<UpscaleOptions>({
  name: 'upscale',
  summary: 'Make an image larger.',
  example: 'parkway upscale --scale 4 -o large.png small.png',
  define: (command) =>
    withMakeOptions(command.argument('<image>', 'a file or an address')).option(
      '--scale <factor>',
      'how many times wider and higher',
    ),
  async act(context, options, image = '') {
    const { model, scale } = options
    const body = {
      image: readImage(image),
      ...(model === undefined ? {} : { model }),
      ...(scale === undefined ? {} : { scale: parseDecimal('--scale', scale) }),
    }
    await makeMedia(context, { path: '/v1/images/upscale', body }, options)
  },
})
