import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import type { ModelFile } from '../../scoring';
import { MAX_MODEL_FILE_BYTES } from '../../scoring/management/model-file';
import { ServiceError, toServiceError } from '../../wire/service-error';
import { type EditorRequest, type EditorResponse, respond } from '../config/http';

export type FileRequest = EditorRequest & IncomingMessage;
export type FileResponse = EditorResponse & ServerResponse;

/** Answers with a file to save, or with {code, message} of an error. */
export function sendFile(response: FileResponse, make: () => Promise<ModelFile>): void {
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

/** The bytes of a file that is sent. Pages of other origins cannot send this type without being asked. @throws ServiceError */
export async function receiveFile(request: FileRequest): Promise<Buffer> {
  if (!/^application\/(octet-stream|zip)\b/.test(String(request.headers['content-type']))) {
    throw new ServiceError(
      'validation.failed',
      'Send the file as the body of the request, as application/octet-stream.',
    );
  }
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
