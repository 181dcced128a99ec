import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.mustangproject.validator.ZUGFeRDValidator;
import org.verapdf.gf.foundry.VeraGreenfieldFoundryProvider;
import org.verapdf.pdfa.Foundries;
import org.verapdf.pdfa.flavours.PDFAFlavour;
import org.verapdf.pdfa.results.TestAssertion;

/**
 * What the reference validators say of each file: one line of JSON per file on standard output, in the order of the
 * arguments. Mustang sees every file, veraPDF every PDF. One JVM for all, for starting one takes seconds.
 */
class Check {
  public static void main(String[] files) throws Exception {
    // both validators print; what we say goes past them
    PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    System.setOut(System.err);
    VeraGreenfieldFoundryProvider.initialise();
    for (String file : files) {
      String vera = file.endsWith(".pdf") ? verapdf(Path.of(file)) : "null";
      answers.println("{\"file\":" + json(file) + ",\"mustang\":" + json(mustang(file)) + ",\"vera\":" + vera + "}");
    }
  }

  /** The report, as it stands: its one verdict on the whole file is not to be trusted, so the caller reads its parts. */
  private static String mustang(String file) {
    ZUGFeRDValidator validator = new ZUGFeRDValidator();
    validator.disableNotices();
    return validator.validate(file);
  }

  private static String verapdf(Path file) throws Exception {
    try (InputStream in = Files.newInputStream(file);
        var parser = Foundries.defaultInstance().createParser(in, PDFAFlavour.NO_FLAVOUR)) {
      var flavours = parser.getFlavours();
      var flavour = flavours.isEmpty() ? PDFAFlavour.PDFA_3_B : flavours.get(0);
      var result = Foundries.defaultInstance().createValidator(flavour, false).validate(parser);
      List<String> failed = new ArrayList<>();
      for (TestAssertion assertion : result.getTestAssertions()) {
        if (assertion.getStatus() == TestAssertion.Status.FAILED) {
          failed.add(json(assertion.getRuleId().getClause() + ": " + assertion.getMessage()));
        }
      }
      String named = flavours.isEmpty() ? "null" : json(flavour.getId());
      return "{\"flavour\":" + named + ",\"compliant\":" + result.isCompliant() + ",\"failed\":[" + String.join(",", failed) + "]}";
    }
  }

  private static String json(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') out.append('\\').append(c);
      else if (c < 0x20) out.append(String.format("\\u%04x", (int) c));
      else out.append(c);
    }
    return out.append('"').toString();
  }
}
