import { parentPort } from "node:worker_threads";
import { load } from "./node.js";
import { serve } from "./serve.js";

parentPort.on("message", serve(load, (message) => parentPort.postMessage(message)));
