import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import type { ModelFile } from '../../scoring';
import { MAX_MODEL_FILE_BYTES } from '../../scoring/manage-models';
import { ServiceError, toServiceError } from '../../wire/service-error';
import { type EditorRequest, type EditorResponse, respond } from '../config/http';

/** Answers with a file to save, or with {code, message} of an error. */
export function sendFile(response: EditorResponse, make: () => Promise<ModelFile>): void {
  const send = async (): Promise<void> => {
    const { name, bytes, pieces } = await make();
    response.writeHead(200, {
      'content-type': 'application/zip',
      'content-length': bytes,
      'content-disposition': `attachment; filename="${name}"`,
      'cache-control': 'no-store',
    });
    await pipeline(Readable.from(pieces), response);
  };
  send().catch((error: unknown) => {
    if (response.headersSent) {
      response.destroy();
    } else {
      respond(response, () => {
        throw toServiceError(error);
      });
    }
  });
}

/** The bytes of a file that is sent. @throws ServiceError `limit.exceeded` */
export async function receiveFile(request: EditorRequest): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > MAX_MODEL_FILE_BYTES) {
      throw new ServiceError('limit.exceeded', `The file is larger than ${MAX_MODEL_FILE_BYTES} bytes.`);
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
