import { clientCommand } from '../../client-command.ts'
import { readImage } from '../../input/read-attachment.ts'
import { makeMedia, withMakeOptions, type MakeOptions } from './make-media.ts'

export const bgRemove = clientCommand<MakeOptions>({
  name: 'bg-remove',
  summary: 'Make the background of an image transparent.',
  example: 'parkway bg-remove -o cup-alone.png cup.jpg',
  define: (command) => withMakeOptions(command.argument('<image>', 'a file or an address')),
  async act(context, options, image = '') {
    const { model } = options
    const body = { image: readImage(image), ...(model === undefined ? {} : { model }) }
    await makeMedia(context, { path: '/v1/images/bg-remove', body }, options)
  },
})
