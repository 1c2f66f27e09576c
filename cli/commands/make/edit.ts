import { clientCommand } from '../../client-command.ts'
import { readImage } from '../../input/read-attachment.ts'
import { chooseMediaModel } from '../../media/choose-media-model.ts'
import { makeMedia, withMakeOptions, type MakeOptions } from './make-media.ts'

interface EditOptions extends MakeOptions {
  readonly image: string[]
  readonly mask?: string
}

export const edit = clientCommand<EditOptions>({
  name: 'edit',
  summary: 'Edit images as a text describes.',
  example: 'parkway edit -i room.png -o blue-room.png "Paint the walls blue"',
  define: (command) =>
    withMakeOptions(command.argument('<prompt...>', 'what to change'))
      .requiredOption('-i, --image <file or address...>', 'the images to change')
      .option('--mask <file>', 'an image whose transparent parts may change'),
  async act(context, options, ...words) {
    const { image, mask } = options
    const { id: model, costUsd } = await chooseMediaModel(
      context.connect(),
      { category: 'image', capability: 'image_edit' },
      { model: options.model, inputImages: image.length + (mask === undefined ? 0 : 1) },
    )
    const body = {
      model,
      prompt: words.join(' '),
      image: image.map(readImage),
      ...(mask === undefined ? {} : { mask: readImage(mask) }),
    }
    await makeMedia(context, { path: '/v1/images/edits', body, costUsd }, options)
  },
})
