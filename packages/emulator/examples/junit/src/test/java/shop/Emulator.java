package shop;

import com.azure.core.util.BinaryData;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** An emulator on free ports, for the tests of a class. Its standard input ends with this process, and so does it. */
final class Emulator implements AutoCloseable {
  private final Process process;
  private final HttpClient http = HttpClient.newHttpClient();
  private final Map<?, ?> ready;

  Emulator() throws IOException, InterruptedException {
    var file = Files.createTempDirectory("emulator").resolve("ready.json");
    var given = System.getenv().getOrDefault("EVENTGRID_EMULATOR", "npx --no-install eventgrid-emulator");
    var command = new ArrayList<>(List.of(given.split(" ")));
    command.addAll(List.of("--port", "0", "--http-port", "0", "--ready-file", file.toString(), "--until-stdin-ends", "--manual-clock"));
    process = new ProcessBuilder(command)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    while (!Files.exists(file)) {
      if (!process.isAlive()) throw new IllegalStateException("the emulator has ended; standard error says why");
      Thread.sleep(50);
    }
    ready = parsed(Files.readString(file));
    // Before the first connection of this process: Java reads it once.
    System.setProperty("javax.net.ssl.trustStore", (String) ready.get("pkcs12File"));
    System.setProperty("javax.net.ssl.trustStorePassword", "changeit");
  }

  /** A member of the topic `orders`. */
  String topic(String member) {
    return (String) ((Map<?, ?>) ((List<?>) ready.get("topics")).get(0)).get(member);
  }

  Map<?, ?> get(String path) throws IOException, InterruptedException {
    return ask(HttpRequest.newBuilder(uri(path)).build());
  }

  Map<?, ?> post(String path, Map<String, ?> body) throws IOException, InterruptedException {
    var text = HttpRequest.BodyPublishers.ofString(BinaryData.fromObject(body).toString());
    return ask(HttpRequest.newBuilder(uri(path)).POST(text).build());
  }

  private URI uri(String path) {
    return URI.create(ready.get("http") + "/emulator/" + path);
  }

  private Map<?, ?> ask(HttpRequest request) throws IOException, InterruptedException {
    var answer = http.send(request, HttpResponse.BodyHandlers.ofString());
    if (answer.statusCode() >= 300) throw new AssertionError(answer.body());
    return answer.body().isEmpty() ? Map.of() : parsed(answer.body());
  }

  private static Map<?, ?> parsed(String json) {
    return BinaryData.fromString(json).toObject(Map.class);
  }

  @Override
  public void close() throws IOException, InterruptedException {
    process.getOutputStream().close();
    process.waitFor();
  }
}
